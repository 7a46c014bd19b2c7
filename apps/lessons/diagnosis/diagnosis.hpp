#pragma once

/// From the pattern of the wrong elements of C to a sentence that says where to look.

#include "mistake.hpp"
#include "observation.hpp"

namespace tessera::lessons {

/// Returns what explains the result of a call, or Mistake::None if it is right. It tries explanations one after another
/// and takes the first one that gives every element of C.
Finding diagnose(const Observation& seen);

/// Returns the finding for two calls with equal data and different results.
Finding diagnose_difference(const Observation& first, const Observation& second);

} // namespace tessera::lessons
