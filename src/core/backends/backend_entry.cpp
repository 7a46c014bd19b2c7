#include "backend_entry.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include <tessera/backend.hpp>
#include <tessera/backend/fork.hpp>
#include <tessera/backend/log.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>

#include "core/base/reentry.hpp"
#include "core/executor/tuning/tuned_kernels.hpp"
#include "core/tools/environment.hpp"
#include "core/tools/listeners.hpp"
#include "reference/plugin.hpp"

namespace tessera {

/// An executor that has just been made; null: the reason.
struct BackendEntry::Made {
  std::unique_ptr<Executor, void (*)(Executor*)> executor{nullptr, nullptr};
  StatusCode code = StatusCode::Unavailable;
  std::string reason;
};

BackendEntry::BackendEntry(const BuiltInBackend& line) : backend_(line.backend), name_(line.name), built_in_(&line) {}

BackendEntry::BackendEntry(Backend backend, std::string_view name, LoadedPlugin loaded)
    : backend_(backend),
      name_(name),
      built_in_(nullptr),
      loaded_(std::move(loaded)),
      tried_(true),
      reason_(loaded_.reason) {}

bool BackendEntry::is_being_made_here() const noexcept { return Reentry::is_within(this); }

void BackendEntry::refuse_reentry() const { Reentry::refuse(this, "backend " + name_); }

const PluginInfo* BackendEntry::plugin() {
  refuse_reentry();
  const detail::Uncancelled whole;
  const WholeAcrossFork action;
  load();
  const std::lock_guard lock(mutex_);
  return loaded_.plugin;
}

Executor* BackendEntry::executor() {
  if (Executor* known = made_.load(std::memory_order_acquire)) return known; // every product asks: no lock
  const detail::Uncancelled whole;
  tools::start_from_environment(); // without the lock: it runs code of tools
  refuse_reentry();
  const WholeAcrossFork action;
  load();
  Made fresh;
  std::unique_lock lock(mutex_);
  wait_for_maker(lock);
  if (made_ != nullptr || lost_ != nullptr || loaded_.plugin == nullptr) return made_;
  make(-1, lock, fresh);
  if (made_ != nullptr) return made_; // another thread was faster
  code_ = fresh.code;
  reason_ = std::move(fresh.reason);
  made_.store(fresh.executor.release(), std::memory_order_release);
  return made_;
}

Executor* BackendEntry::executor_of(int device, int copy, State& state) {
  Executor* const chosen = executor(); // the backend's own choice may be this device
  if (copy == 0 && chosen != nullptr && chosen->capabilities().device_index == device) return chosen;
  const WholeAcrossFork action;
  Made fresh;
  std::unique_lock lock(mutex_);
  wait_for_maker(lock);
  state = {code_, loaded_.plugin != nullptr, reason_, loaded_.path};
  if (lost_ != nullptr) state.reason = lost_by_fork;
  const auto find = [&] {
    return std::find_if(devices_.begin(), devices_.end(),
                        [&](const Device& known) { return known.number == device && known.copy == copy; });
  };
  if (const auto known = find(); known != devices_.end()) {
    if (known->lost) state.reason = lost_by_fork;
    return known->lost ? nullptr : known->executor;
  }
  if (lost_ != nullptr || loaded_.plugin == nullptr) return nullptr;
  make(device, lock, fresh);
  if (const auto known = find(); known != devices_.end()) return known->executor; // another thread was faster
  state.code = fresh.code;
  state.reason = std::move(fresh.reason);
  if (fresh.executor == nullptr) return nullptr;
  devices_.push_back({device, copy, fresh.executor.get(), false});
  return fresh.executor.release();
}

bool BackendEntry::has_lost(const Executor& executor) const noexcept {
  if (lost_ == &executor) return true;
  return std::any_of(devices_.begin(), devices_.end(),
                     [&](const Device& known) { return known.lost && known.executor == &executor; });
}

Memory BackendEntry::memory() const noexcept {
  if (built_in_ != nullptr) return built_in_->memory;
  return loaded_.plugin != nullptr ? loaded_.plugin->memory : Memory::Host;
}

int BackendEntry::preference() const noexcept {
  if (built_in_ != nullptr) return built_in_->preference;
  return loaded_.plugin != nullptr ? loaded_.plugin->preference : 0;
}

bool BackendEntry::serves_auto() {
  const PluginInfo* const loaded = plugin();
  if (loaded == nullptr || loaded->serves_auto == nullptr) return true;
  const detail::ContractArithmetic contract;
  return loaded->serves_auto();
}

void BackendEntry::lose_device() noexcept {
  for (Device& known : devices_) known.lost = true;
  Executor* const made = made_.load();
  if (made == nullptr || made->capabilities().host_memory) return;
  lost_ = made;
  made_.store(nullptr);
}

BackendEntry::State BackendEntry::state() {
  refuse_reentry();
  const WholeAcrossFork action;
  const std::lock_guard lock(mutex_);
  if (lost_ != nullptr) return {code_, loaded_.plugin != nullptr, std::string(lost_by_fork), loaded_.path};
  return {code_, loaded_.plugin != nullptr, made_ == nullptr ? reason_ : std::string(), loaded_.path};
}

/// Several threads may do this at once: the dynamic loader loads a library once, and the first result stays.
void BackendEntry::load() {
  {
    const std::lock_guard lock(mutex_);
    if (tried_) return;
  }
  const Reentry here(this);
  const detail::ContractArithmetic contract;
  LoadedPlugin found;
  if (backend_ == Backend::Reference)
    found.plugin = reference::plugin();
  else
    found = load_plugin(name_);
  std::string reason = found.reason;
  const std::lock_guard lock(mutex_);
  if (tried_) return;
  reason_ = std::move(reason);
  loaded_ = std::move(found);
  tried_ = true; // now that nothing can fail
}

/// Says what is wrong with an executor of the plug-in, and lets it choose kernels by its tuning table. Empty: nothing.
std::string BackendEntry::problem_of(Executor& executor, int device, StatusCode& code) {
  const Capabilities& machine = executor.capabilities();
  const bool on_host = memory() == Memory::Host;
  if (machine.backend != backend_)
    return "its executor says that it is backend " + std::string(to_string(machine.backend)) +
           "; let the plug-in pass on ExecutorOptions::backend";
  if (machine.host_memory != on_host)
    return std::string("its executor's memory is ") + (on_host ? "a device's" : "the host's") +
           ", but the backend is declared with the " + (on_host ? "host's" : "device's") +
           "; let Capabilities::host_memory and PluginInfo::memory agree";
  if (device >= 0 && machine.device_index != device)
    return "its executor says that it is of device " + std::to_string(machine.device_index) + ", and device " +
           std::to_string(device) + " was asked for; let the plug-in heed ExecutorOptions::device";
  try {
    executor.use_tuning(detail::find_tuned_kernels(executor, std::filesystem::path(loaded_.path).parent_path()));
  } catch (const IoError& why) { // TESSERA_TUNING names what cannot be used
    code = StatusCode::InvalidArgument;
    return why.what();
  }
  return {};
}

/// Lets a thread that makes an executor end, so that others do not make it, too, but not for ever: that thread may wait
/// for the dynamic loader, whose lock this one holds if it runs the constructor of a library.
void BackendEntry::wait_for_maker(std::unique_lock<std::mutex>& lock) {
  maker_ended_.wait_for(lock, std::chrono::seconds(2), [this] { return makers_ == 0; });
}

/// While one lives, its thread makes an executor, without the lock.
class BackendEntry::Making {
 public:
  Making(BackendEntry& entry, std::unique_lock<std::mutex>& lock) : entry_(entry), lock_(lock) {
    ++entry_.makers_;
    lock_.unlock();
  }
  ~Making() {
    lock_.lock();
    --entry_.makers_;
    entry_.maker_ended_.notify_all();
  }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

 private:
  BackendEntry& entry_;
  std::unique_lock<std::mutex>& lock_;
};

void BackendEntry::make(int device, std::unique_lock<std::mutex>& lock, Made& made) {
  const Reentry here(this);
  const detail::ContractArithmetic contract;
  const Making unlocked(*this, lock);
  const ExecutorOptions options{.threads = default_threads(), .device = device, .backend = backend_};
  Executor* created = nullptr;
  Status status = create_guarded(*loaded_.plugin, options, created);
  made.executor = {created, loaded_.plugin->destroy};
  // A plug-in gets its arguments from variables of the environment alone.
  made.code = status.code == StatusCode::OutOfMemory || status.code == StatusCode::InvalidArgument
                  ? status.code
                  : StatusCode::Unavailable;
  made.reason = std::move(status.why);
  if (created != nullptr) {
    made.reason = problem_of(*created, device, made.code);
    if (!made.reason.empty()) made.executor = nullptr;
  }
  if (made.executor != nullptr) tools::finish_before_what_is_loaded_now();
  if (log_dispatch()) {
    std::string line = "backend " + name_;
    if (device >= 0) line.append(":").append(std::to_string(device));
    log_line(line.append(made.executor != nullptr ? " is up" : " is not available: " + made.reason));
  }
}

} // namespace tessera
