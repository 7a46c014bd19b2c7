#pragma once

/// What an operation pays for the tools (tessera/tools.hpp) where none listens.

#include <vector>

#include "race.hpp"

namespace speed {

/// Returns the calls of a race: an entry of an executor whose work is nothing, with the check for tools; an entry that
/// has no check; and the backend's method behind both, called directly. The first less the second is the check.
std::vector<Contestant> hook_contestants();

} // namespace speed
