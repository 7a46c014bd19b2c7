#pragma once

/// What a learner has done, in a file of $XDG_STATE_HOME/tessera.

#include <filesystem>
#include <map>
#include <string>

namespace tessera::lessons {

struct Done {
  bool passed = false;
  double share = 0;   ///< the best speed, as a share of the rung's; 0: none was measured
  int tries = 0;      ///< checks so far
  std::string folder; ///< where the lesson's file is
};

class Progress {
 public:
  /// Reads $XDG_STATE_HOME/tessera/lessons.json, else ~/.local/state/tessera/lessons.json. A file that cannot be read
  /// counts as empty; complaint() says why.
  Progress();

  const Done& of(const std::string& lesson) const;
  Done& of(const std::string& lesson) { return lessons_[lesson]; }
  /// Writes the file. Returns "", or a sentence that says why it was not written.
  std::string save() const;
  const std::string& complaint() const noexcept { return complaint_; }

 private:
  std::filesystem::path file_; ///< empty where there is no home
  std::map<std::string, Done> lessons_;
  std::string complaint_;
};

} // namespace tessera::lessons
