#pragma once

/// The tools that TESSERA_PROFILE and TESSERA_TOOLS ask for.

namespace tessera::tools {

/// Registers them at the first call; later calls do nothing. If one of them cannot be had, none is registered, and this
/// call and later ones throw the reason; see tools.hpp.
void start_from_environment();

} // namespace tessera::tools
