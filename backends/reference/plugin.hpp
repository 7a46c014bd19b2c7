#pragma once

#include <tessera/backend/plugin.hpp>

namespace tessera::reference {

/// The reference backend is linked into libtessera and always there; it describes itself as a plug-in does.
const PluginInfo* plugin();

} // namespace tessera::reference
