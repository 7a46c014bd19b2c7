#pragma once

/// Explanations of a wrong product: what C would be if the kernel made one mistake.

#include <optional>

#include "mistake.hpp"
#include "observation.hpp"

namespace tessera::lessons {

/// Returns the first mistake of the scaling, of the transposes or of the leading dimensions that gives all of C.
std::optional<Finding> explained_by_reading(const Observation& seen);

/// Returns the first mistake along k that gives all of C, or at least every wrong element of it.
std::optional<Finding> explained_by_steps(const Observation& seen);

/// Returns the first mistake in the places of tiles and packed strips that gives all of C.
std::optional<Finding> explained_by_tiles(const Observation& seen);

} // namespace tessera::lessons
