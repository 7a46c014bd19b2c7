#pragma once

/// The entry point of a backend plug-in: one C function that returns constant data.
///
/// A plug-in is a shared library `libtessera_<name>.so` that exports
///
///     extern "C" const tessera::PluginInfo* tessera_plugin() noexcept;
///
/// `<name>` is a word of built_in_backends, or any other word of lower-case letters, digits and underscores: a plug-in
/// of an unknown name becomes a backend of this name. libtessera looks for the file in the folders of
/// TESSERA_PLUGIN_PATH (separated by ':'), beside itself, in the folder tessera/ beside itself, and in the folder of
/// its installation. It never looks in the current directory. The first file that exists decides.
///
/// The host checks struct_size, abi_version and build_tag before it calls anything else. A plug-in is loaded when
/// its backend is first asked for and is never unloaded.
///
/// Source: ggml's loadable backends and their version handshake; here every failure keeps its reason.

#include <cstdint>
#include <span>

#include <tessera/backend/build_tag.hpp>
#include <tessera/backend_list.hpp>
#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>
#include <tessera/version.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// This number is raised whenever a type that crosses the boundary changes.
inline constexpr std::uint32_t plugin_abi_version = 20;

/// The arguments that the host passes to create().
struct ExecutorOptions {
  int threads = 0;                      ///< CPU: threads to use, already resolved by the host; at least 1
  int device = -1;                      ///< index of the device; -1: the plug-in's own choice
  Backend backend = Backend::Reference; ///< this backend's value in this process, for Capabilities::backend
};

/// A mark of libtessera, of which only the address counts: each copy of libtessera in a process has its own.
TESSERA_API extern const char library_mark;

/// The description of a plug-in. All of it is constant and valid until the process ends.
struct PluginInfo {
  std::uint32_t struct_size; ///< sizeof(PluginInfo) when the plug-in was compiled
  std::uint32_t abi_version; ///< plugin_abi_version when the plug-in was compiled
  const char* build_tag;     ///< TESSERA_BUILD_TAG when the plug-in was compiled
  const char* name;          ///< the `<name>` of the file: lower-case letters, digits and underscores
  const char* description;   ///< one line
  /// Returns Ok, or the reason why this machine cannot use the backend (no driver, driver too old, no device, …). The
  /// first call may be slow.
  Status (*probe)();
  /// Makes an executor. On failure `executor` stays null. Two threads may call it at once, where the one runs the
  /// constructor of a library and the other one waits for the dynamic loader; the executor that is made last is ended.
  Status (*create)(const ExecutorOptions& options, Executor*& executor);
  /// Ends an executor that create() made.
  void (*destroy)(Executor* executor);
  /// Returns every kernel of the ladders of products, even where there is no device.
  std::span<const GemmKernel> (*gemm_kernels)();
  /// Returns every kernel of the ladders of reductions, even where there is no device.
  std::span<const ReduceKernel> (*reduce_kernels)();
  /// Whose memory the executor's is; Capabilities::host_memory must agree. For a name of built_in_backends the list
  /// holds, here and for the preference.
  Memory memory = Memory::Host;
  /// For Backend::Auto, beside the preferences of built_in_backends; 0: only a call that names the backend gets it.
  int preference = 0;
  /// Whether Backend::Auto may take the executor that create() makes without a number of a device; null: it may. It is
  /// called before create(), and may be slow once.
  bool (*serves_auto)() = nullptr;
  /// The mark of the libtessera that the dynamic loader bound the plug-in to. In a process with two copies of
  /// libtessera that can be the other one, whose functions the plug-in would call; libtessera then refuses the plug-in.
  const char* bound_to = &library_mark;
};

using PluginEntry = const PluginInfo* (*)(); ///< The type of tessera_plugin().
/// The name of the function that a plug-in exports.
inline constexpr const char* plugin_entry_name = "tessera_plugin";

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
