#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/backend_list.hpp>

#include "plugin_loader.hpp"

namespace tessera {

/// Why the child of a fork cannot use a device that its parent used.
inline constexpr std::string_view lost_by_fork =
    "this process was forked from one that had used the device, and a device cannot be used on both sides of a fork; "
    "start the child as a new program (in Python: multiprocessing's 'spawn' or 'forkserver'), or use the device in the "
    "child alone";

/// One backend of this process: its plug-in, loaded when it is first asked for, and its executor, made once and kept.
/// An entry is never destroyed, because executors must outlive every static Matrix.
class BackendEntry {
 public:
  struct State {
    StatusCode code = StatusCode::Unavailable; ///< OutOfMemory: the plug-in may have an executor later;
                                               ///< InvalidArgument: a variable is wrong
    bool loaded = false;
    std::string reason;
    std::string path;
  };

  /// A backend of the list.
  explicit BackendEntry(const BuiltInBackend& line);
  /// A backend of another author, whose plug-in was looked for already.
  BackendEntry(Backend backend, std::string_view name, LoadedPlugin loaded);

  Backend backend() const noexcept { return backend_; }
  /// Ends with a null character.
  std::string_view name() const noexcept { return name_; }

  /// Null with the reason in state(). Throws OutOfMemory and std::bad_alloc; then the next call loads it. This function
  /// and the next three throw BackendUnavailable where the plug-in's own code calls them while this thread loads it or
  /// makes its executor.
  const PluginInfo* plugin();
  /// Null with the reason in state(). The next call tries again.
  /// Throws InvalidArgument where the environment has no valid number of threads, OutOfMemory and std::bad_alloc.
  Executor* executor();
  /// Returns the executor of one device, or with `copy` > 0 a further one of it; null with the reason in `state`.
  Executor* executor_of(int device, int copy, State& state);
  /// The list's, else the plug-in's; Host and 0 where the plug-in could not be loaded.
  Memory memory() const noexcept;
  int preference() const noexcept;
  /// May Backend::Auto take executor()? The plug-in says so, which is loaded. Throws what plugin() throws.
  bool serves_auto();

  /// Is called in the child of a fork, which cannot use the parent's device: its executor is not given out any more.
  void lose_device() noexcept;
  /// Is this the executor of a device that the parent used?
  bool has_lost(const Executor& executor) const noexcept;

  State state();
  /// True at the first call: what is said of the backend is said once.
  bool is_said_first() noexcept { return !is_said_.exchange(true, std::memory_order_relaxed); }
  /// Does this thread load the plug-in now, or make its executor?
  bool is_being_made_here() const noexcept;

 private:
  void load();
  void refuse_reentry() const;
  /// An executor that executor_of() made.
  struct Device {
    int number;
    int copy; ///< 0, or which further executor of the device it is
    Executor* executor;
    bool lost; ///< it was made before the fork of which this process is the child
  };
  struct Made;
  class Making;
  /// Makes the executor of a device, or with −1 the one of the plug-in's own choice, without the lock, which is held
  /// before and after. Throws std::bad_alloc; then the next call makes the executor.
  void make(int device, std::unique_lock<std::mutex>& lock, Made& made);
  void wait_for_maker(std::unique_lock<std::mutex>& lock);
  std::string problem_of(Executor& executor, int device, StatusCode& code);

  const Backend backend_;
  const std::string name_;
  const BuiltInBackend* const built_in_; ///< null for a backend of another author
  LoadedPlugin loaded_;
  bool tried_ = false;
  std::atomic<Executor*> made_ = nullptr;
  std::vector<Device> devices_; ///< what executor_of() has made
  Executor* lost_ = nullptr;    ///< it was made before the fork of which this process is the child
  std::string reason_;
  StatusCode code_ = StatusCode::Unavailable;
  std::atomic<bool> is_said_ = false;
  int makers_ = 0; ///< threads that make an executor now
  std::condition_variable maker_ended_;
  /// Guards what is above; of another author's backend, loaded_ is constant. It is not held while the plug-in's code
  /// runs, which may ask the dynamic loader: another thread may hold the loader's lock, in the constructor of a library
  /// that waits for this one.
  std::mutex mutex_;
};

} // namespace tessera
