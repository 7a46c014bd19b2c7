#pragma once

/// Marks a kernel: calls it on shapes that bring one difficulty after another, and explains the first mistake.

#include <functional>
#include <span>
#include <string>

#include "catalogue.hpp"
#include "trying.hpp"

namespace tessera::lessons {

/// Returns the products that every lesson of a machine is tried on, the easy ones first.
std::span<const Case> cases_of(Machine machine);

/// Calls a kernel so many times with equal operands.
using Caller = std::function<Calls(const Case& tried, int count)>;

struct Mark {
  Finding finding;              ///< None: right in all cases
  const Case* failed = nullptr; ///< the case in which the finding showed
  int right = 0;                ///< cases before it
  std::string output;           ///< what the kernel printed
};

/// `threads`: with more than one, calls are repeated, because threads that disturb one another do so now and then.
Mark mark(const Caller& call, std::span<const Case> cases, int threads);

} // namespace tessera::lessons
