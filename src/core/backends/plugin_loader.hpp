#pragma once

/// Finds, opens and checks backend plug-ins. Every failure keeps its reason.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/backend/plugin.hpp>

namespace tessera {

struct LoadedPlugin {
  const PluginInfo* plugin = nullptr;
  std::string path;       ///< the file that was opened; empty where none was found
  std::string reason;     ///< why there is no plug-in
  bool claimable = false; ///< the file may be a plug-in: it exports the entry point, or could not be opened at all
};

/// Looks for libtessera_<name>.so in TESSERA_PLUGIN_PATH (folders separated by ':'), beside libtessera, in the folder
/// tessera/ beside it and in the install folder, in this order; never in the current directory. Where libtessera was
/// loaded by a link, the folder of the link comes before the folder of the file. The first file that exists decides: a
/// broken one is reported, not skipped. Throws OutOfMemory where a file could not be loaded for lack of memory, and
/// std::bad_alloc.
LoadedPlugin load_plugin(std::string_view name);

/// Returns the folders in which plug-ins are looked for, in this order.
std::vector<std::filesystem::path> plugin_folders();

/// Returns the ones of them that are this library's own, after the ones of TESSERA_PLUGIN_PATH.
std::vector<std::filesystem::path> library_folders();

/// Can this be the <name> in libtessera_<name>.so? Lower-case letters, digits and underscores, at most 64.
bool is_plugin_name(std::string_view name) noexcept;

/// Returns the value of TESSERA_PLUGIN_PATH; empty if it is not set. Folders in it that are relative or not there are
/// passed over, which is said once on stderr.
std::string plugin_path();

/// Returns the <name> of each file libtessera_<name>.so in the folders of `path`, sorted, each once. Not every file is
/// a plug-in: libtessera_blas.so is none. Libraries for MPI, whose names begin with mpi_ or scalapack, are left out,
/// because opening one would load an MPI. Throws std::bad_alloc.
std::vector<std::string> plugin_names_in(std::string_view path);

/// Calls probe and create, and turns every exception but std::bad_alloc into a reason. On failure `executor` is null.
Status create_guarded(const PluginInfo& plugin, const ExecutorOptions& options, Executor*& executor);

} // namespace tessera
