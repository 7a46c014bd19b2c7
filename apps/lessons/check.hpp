#pragma once

/// `./tessera learn LESSON --check`: compiles, marks, counts and races a lesson's file.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "build.hpp"
#include "catalogue.hpp"
#include "marking.hpp"

namespace tessera::lessons {

/// A count of the learner's kernel beside the counts of both rungs.
struct Compared {
  double yours = 0, before = 0, rung = 0;

  /// Returns how much of the way from the rung before to the rung is done: 0 none of it, 1 all of it.
  double way() const;
};

struct Report {
  Finding finding;          ///< None: right
  std::string where;        ///< the case in which it showed
  int right = 0, cases = 0; ///< cases that were right before it, and how many there are
  std::optional<Compared> counts;
  std::optional<Compared> seconds; ///< of the race; none where no machine can run it
  bool is_busy = false;            ///< more programs than processors wanted to run beside the race
  std::string remark;              ///< why there is no race
  std::string warnings;            ///< the compiler's
  std::string output;              ///< what the kernel printed
  bool passed = false;             ///< right, and the count is where the lesson wants it

  /// Returns the rung's time as a share of the learner's; 0 if there are no times.
  double share() const { return seconds ? seconds->rung / seconds->yours : 0; }
};

/// Checks the file. `say` hears what is being done. Throws IoError where there is no compiler or no sandbox.
Report check(const Lesson& lesson, const std::filesystem::path& file, const Limits& limits,
             const std::function<void(const char*)>& say);

/// Compiles the file to be marked on the processor. Where it does not compile, returns null, and the report says so.
std::unique_ptr<Built> built_to_mark(const Lesson& lesson, const std::filesystem::path& file,
                                     const std::function<void(const char*)>& say, Report& report);
/// Are more programs ready to run than there are processors?
bool is_machine_busy();

/// Returns the report for a terminal, lines that end with '\n'.
std::string to_text(const Lesson& lesson, const Report& report);

} // namespace tessera::lessons
