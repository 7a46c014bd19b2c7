#pragma once

#include <tessera/backend/plugin.hpp>

namespace tessera::reference {

/// Returns the description of the reference backend. It is linked into libtessera and always there, and describes
/// itself as a plug-in does.
const PluginInfo* plugin();

} // namespace tessera::reference
