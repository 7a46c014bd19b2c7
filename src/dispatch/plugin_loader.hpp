#pragma once

/// Finds, opens and checks backend plug-ins. Every failure keeps its reason.

#include <string>
#include <string_view>

#include <tessera/backend/plugin.hpp>

namespace tessera {

struct LoadedPlugin {
  const PluginInfo* plugin = nullptr;
  std::string path;   ///< the file that was opened
  std::string reason; ///< why there is no plug-in
};

/// Looks for libtessera_<name>.so in TESSERA_PLUGIN_PATH (folders parted by ':'), beside libtessera, in the folder
/// tessera/ beside it and in the install folder, in this order; never in the current directory. The first file
/// that exists decides: a broken one is reported, not skipped.
LoadedPlugin load_plugin(std::string_view name);

/// probe and create, with every exception turned into a reason.
Status create_guarded(const PluginInfo& plugin, const ExecutorOptions& options, Executor*& executor);

} // namespace tessera
