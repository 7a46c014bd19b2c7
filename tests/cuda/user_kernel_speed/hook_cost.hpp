#pragma once

/// What an operation pays for the tools (tessera/tools.hpp) where none listens.

#include <vector>

#include "race.hpp"

namespace speed {

/// Returns the two calls of a race: an entry of an executor that does nothing, with the check for tools, and the
/// backend's method behind it, called directly. The difference of their times is the cost of the check.
std::vector<Contestant> hook_contestants();

} // namespace speed
