#pragma once

/// What stands below a table in place of sentences in it: one line for each reason, with the kernels it is about.

#include <string>
#include <vector>

#include "race/result.hpp"

namespace tessera::compare_app {

/// Returns whether the entry is left out of the table: its kernel was rejected or skipped.
inline bool is_left_out(const Result& result) {
  return result.verdict == Verdict::Rejected || result.verdict == Verdict::Skipped;
}

class TableNotes {
 public:
  /// Takes the entry's reason, and its kernel's name if there is one. Entries that are skipped for their length share a
  /// line, whatever time each would take.
  void add(const Result& result);
  /// Returns one line for each reason, in the order in which they came: "not run: amx_bf16 (openmp, tbb): why".
  std::vector<std::string> lines() const;

 private:
  struct Kernel {
    std::string name;
    std::vector<std::string> backends; ///< each once
  };
  struct Note {
    Verdict verdict;
    std::string reason;
    std::vector<Kernel> kernels;
    int entries = 0;
    double longest = 0; ///< seconds that a run of a skipped kernel would take
  };

  std::string line(const Note& note) const;

  std::vector<Note> notes_;
  int passed_ = 0; ///< entries, with a reason or without
};

} // namespace tessera::compare_app
