#pragma once

/// Counts what a kernel of the processor does with memory, or how far its sums are off.

#include "build.hpp"
#include "trying.hpp"

namespace tessera::lessons {

struct Counted {
  bool known = false;
  double value = 0; ///< in the unit of the lesson's counter
  Finding finding;  ///< of accesses near an operand that are none of its elements
};

/// Counts what the lesson's counter counts in one call of the kernel in `file`.
Counted count(const Lesson& lesson, const std::filesystem::path& file, const Limits& limits);

} // namespace tessera::lessons
