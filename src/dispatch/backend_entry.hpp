#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include <tessera/backend_list.hpp>

#include "plugin_loader.hpp"

namespace tessera {

/// One backend of this process: its plug-in, loaded when it is first asked for, and its executor, made once and kept.
/// An entry is never destroyed, because executors must outlive every static Matrix.
class BackendEntry {
 public:
  /// A backend of the list.
  explicit BackendEntry(const BuiltInBackend& line);
  /// A backend of another author, whose plug-in was looked for already.
  BackendEntry(Backend backend, std::string_view name, LoadedPlugin loaded);

  Backend backend() const noexcept { return backend_; }
  /// Ends with a null character.
  std::string_view name() const noexcept { return name_; }

  /// Null with the reason in state(). Throws OutOfMemory and std::bad_alloc; then the next call loads it.
  const PluginInfo* plugin();
  /// Null with the reason in state(). The next call tries again.
  /// Throws InvalidArgument where the environment has no valid number of threads, OutOfMemory and std::bad_alloc.
  Executor* executor();
  /// The list's, else the plug-in's; Host and 0 where the plug-in could not be loaded.
  Memory memory() const noexcept;
  int preference() const noexcept;

  struct State {
    StatusCode code = StatusCode::Unavailable; ///< OutOfMemory: the plug-in says so, and may have an executor later
    bool loaded = false;
    std::string reason;
    std::string path;
  };
  State state();

 private:
  const PluginInfo* load();
  Executor* make();
  std::string problem_of(Executor& executor);

  const Backend backend_;
  const std::string name_;
  const BuiltInBackend* const built_in_; ///< null for a backend of another author
  LoadedPlugin loaded_;
  bool tried_ = false;
  std::atomic<Executor*> made_ = nullptr;
  std::string reason_;
  StatusCode code_ = StatusCode::Unavailable;
  std::mutex mutex_; ///< guards what is above; of another author's backend, loaded_ is constant
};

} // namespace tessera
