#pragma once

/// Marks a kernel: calls it on shapes that bring one difficulty after another, and explains the first mistake.

#include <functional>
#include <span>
#include <string>

#include "trying.hpp"

namespace tessera::lessons {

/// Returns the products that every lesson of a machine is tried on, the easy ones first.
std::span<const Case> cases_of(bool gpu);

struct Mark {
  Finding finding;        ///< None: right in all cases
  const Case* failed = nullptr; ///< the case in which the finding showed
  int right = 0;          ///< cases before it
  std::string output;     ///< what the kernel printed
};

Mark mark(const judge::KernelFile& kernel, std::span<const Case> cases, const Limits& limits);

} // namespace tessera::lessons
