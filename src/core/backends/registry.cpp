/// The backends of this process. Built-in ones have the values of the list; a plug-in of another author gets the next
/// value when its name is first asked for, or found in a folder of TESSERA_PLUGIN_PATH.

#include "registry.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>

#include <tessera/backend.hpp>
#include <tessera/backend/fork.hpp>
#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/status.hpp>

#include "backend_entry.hpp"
#include "core/base/unknown_word.hpp"
#include "default_backend.hpp"

namespace tessera {
namespace {

constexpr std::string_view auto_name = "auto";

class Registry final : private ForkObserver {
 public:
  /// Needs no memory of the heap, because functions that are noexcept ask for the registry.
  Registry() noexcept {
    for (const BuiltInBackend& line : built_in_backends)
      append(new (built_in_[static_cast<std::size_t>(count())].memory) BackendEntry(line));
  }

  /// Readers take no lock: an entry is complete before the count says that it is there.
  int count() const noexcept { return count_.load(std::memory_order_acquire); }
  /// Null for a value that is no backend.
  BackendEntry* at(int value) const noexcept {
    return value >= 1 && value <= count() ? entries_[static_cast<std::size_t>(value - 1)] : nullptr;
  }
  BackendEntry* find(std::string_view name) const noexcept {
    for (int value = 1; value <= count(); ++value)
      if (at(value)->name() == name) return at(value);
    return nullptr;
  }

  /// Returns the entry of this name, after a search for its plug-in; null with the reason where there is none. A
  /// plug-in that is broken has an entry, which keeps the reason.
  BackendEntry* find_or_load(std::string_view name, std::string& reason) {
    if (BackendEntry* known = find(name)) return known;
    if (name == auto_name || !is_plugin_name(name)) return nullptr;
    const WholeAcrossFork action;
    const detail::ContractArithmetic contract; // libstdc++ computes with double where it joins paths
    LoadedPlugin loaded = load_plugin(name);   // without the lock: it runs code of the plug-in
    reason = loaded.reason;
    if (!loaded.claimable) return nullptr;
    const std::lock_guard lock(adding_);
    if (BackendEntry* known = find(name)) return known; // another thread was faster
    if (count() == most_backends) {
      reason = "this process has " + std::to_string(most_backends) + " backends already";
      return nullptr;
    }
    return append(std::make_unique<BackendEntry>(static_cast<Backend>(count() + 1), name, std::move(loaded)).release());
  }

  bool has_lost(const Executor& executor) const noexcept {
    if (!in_child_of_fork_.load(std::memory_order_relaxed)) return false;
    for (int value = 1; value <= count(); ++value)
      if (at(value)->has_lost(executor)) return true;
    return false;
  }

  /// Takes note of a backend that the program named. The first one in host memory stays.
  void note_named(const BackendEntry& named, Executor& executor) noexcept {
    if (first_named_on_host() != nullptr || named.memory() != Memory::Host || named.preference() <= 0 ||
        named.backend() == Backend::Reference)
      return;
    Executor* none = nullptr;
    first_named_on_host_.compare_exchange_strong(none, &executor, std::memory_order_acq_rel);
  }
  Executor* first_named_on_host() const noexcept { return first_named_on_host_.load(std::memory_order_acquire); }

  /// Adds the plug-ins in the folders of TESSERA_PLUGIN_PATH, once for each value of the variable.
  void scan() {
    const WholeAcrossFork action;
    const detail::ContractArithmetic contract;
    std::string path = plugin_path();
    {
      const std::lock_guard lock(adding_);
      if (path == scanned_) return;
    }
    std::string ignored;
    for (const std::string& name : plugin_names_in(path)) find_or_load(name, ignored);
    const std::lock_guard lock(adding_);
    scanned_ = std::move(path);
  }

 private:
  static constexpr int most_backends = 256;

  void after_fork_in_child() noexcept override {
    for (int value = 1; value <= count(); ++value) at(value)->lose_device();
    in_child_of_fork_.store(true, std::memory_order_relaxed);
  }

  /// The entry is never destroyed.
  BackendEntry* append(BackendEntry* entry) noexcept {
    const int place = count();
    entries_[static_cast<std::size_t>(place)] = entry;
    count_.store(place + 1, std::memory_order_release);
    return entry;
  }

  struct Place {
    alignas(BackendEntry) std::byte memory[sizeof(BackendEntry)];
  };
  std::array<Place, built_in_backends.size()> built_in_;

  std::array<BackendEntry*, most_backends> entries_{};
  std::atomic<int> count_ = 0;
  std::atomic<bool> in_child_of_fork_ = false;
  std::atomic<Executor*> first_named_on_host_ = nullptr;
  std::mutex adding_;
  std::string scanned_;
};

/// Never destroyed: executors must outlive every static Matrix.
Registry& registry() noexcept {
  alignas(Registry) static std::byte memory[sizeof(Registry)];
  static auto* const one = new (memory) Registry;
  return *one;
}

BackendEntry& entry(Backend backend) {
  if (BackendEntry* known = registry().at(static_cast<int>(backend))) return *known;
  throw InvalidArgument("backend " + std::to_string(static_cast<int>(backend)) + " (" +
                        std::string(to_string(backend)) + ") is not one backend; name one");
}

/// Every entry after a scan, the preferred ones first.
std::vector<BackendEntry*> in_order_of_preference() {
  registry().scan();
  std::vector<BackendEntry*> all;
  for (int value = 1; value <= registry().count(); ++value) all.push_back(registry().at(value));
  std::stable_sort(all.begin(), all.end(),
                   [](const BackendEntry* x, const BackendEntry* y) { return x->preference() > y->preference(); });
  return all;
}

/// Null if none is available. `settled`: it will not be another one later, because no plug-in lacked memory and none is
/// being loaded by this thread, whose code may ask. Throws
/// std::bad_alloc where this process lacks memory, since a caller would take a lesser backend for the best one. The
/// backend that the program named first stands for all in host memory.
template <class Admits>
Executor* first_executor(Admits admits, bool& settled) {
  settled = true;
  for (BackendEntry* candidate : in_order_of_preference()) {
    if (candidate->preference() <= 0 || !admits(*candidate)) continue;
    if (candidate->is_being_made_here()) { // its own code asks
      settled = false;
      continue;
    }
    if (candidate->memory() == Memory::Host)
      if (Executor* named = registry().first_named_on_host()) return named;
    if (!candidate->serves_auto()) continue;
    if (Executor* made = candidate->executor()) return made;
    const BackendEntry::State state = candidate->state();
    settled = settled && state.code != StatusCode::OutOfMemory;
    // A plug-in finds a variable of the environment wrong. Another backend that serves in its place must not hide that.
    if (state.code == StatusCode::InvalidArgument && candidate->is_said_first())
      log_line("backend auto passes over " + std::string(candidate->name()) + ": " + state.reason);
  }
  return nullptr;
}

Executor& executor_of(BackendEntry& named) {
  if (Executor* made = named.executor()) return *made;
  const BackendEntry::State state = named.state();
  const std::string why = "backend " + std::string(named.name()) + " is not available: " + state.reason;
  if (state.code == StatusCode::OutOfMemory) throw OutOfMemory(why);
  throw BackendUnavailable(why);
}

} // namespace

std::string_view to_string(Backend backend) noexcept {
  if (backend == Backend::Auto) return auto_name;
  if (const BuiltInBackend* line = find_built_in(backend)) return line->name;
  const BackendEntry* known = registry().at(static_cast<int>(backend));
  return known != nullptr ? known->name() : "unknown";
}

Backend parse_backend(std::string_view word) try {
  if (word == auto_name) return Backend::Auto;
  std::string reason;
  if (const BackendEntry* known = registry().find_or_load(word, reason)) return known->backend();
  std::vector<std::string> names{std::string(auto_name)};
  for (const Backend backend : known_backends()) names.emplace_back(to_string(backend));
  throw InvalidArgument(unknown_word("backend", word, names) + (reason.empty() ? "" : "; " + reason));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

Executor& named_executor(Backend backend) { return executor_of(entry(backend)); }

Executor* first_named_on_host() noexcept { return registry().first_named_on_host(); }

Backend last_backend() noexcept { return static_cast<Backend>(registry().count()); }

Executor* preferred_executor(Memory memory, bool& settled) {
  return first_executor([&](const BackendEntry& candidate) { return candidate.memory() == memory; }, settled);
}

bool is_lost(const Executor& executor) noexcept { return registry().has_lost(executor); }

std::vector<Backend> known_backends() try {
  registry().scan();
  std::vector<Backend> all;
  for (int value = 1; value <= registry().count(); ++value) all.push_back(static_cast<Backend>(value));
  return all;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

std::vector<BackendInfo> available_backends() try {
  std::vector<BackendInfo> all;
  for (BackendEntry* e : in_order_of_preference()) {
    const bool available = e->executor() != nullptr;
    BackendEntry::State state = e->state();
    all.push_back({e->backend(), state.loaded, available, std::move(state.reason), std::move(state.path), e->memory(),
                   !available || e->serves_auto()});
  }
  std::stable_partition(all.begin(), all.end(), [](const BackendInfo& info) {
    return entry(info.backend).preference() > 0 && info.serves_auto;
  });
  return all;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

const Capabilities* capabilities_of(Backend backend) try {
  const Executor* const made = entry(backend).executor();
  return made != nullptr ? &made->capabilities() : nullptr;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

Memory memory_of(Backend backend) { return entry(backend).memory(); }

Executor& executor(Backend backend) try {
  if (backend != Backend::Auto) {
    BackendEntry& named = entry(backend);
    Executor& made = executor_of(named);
    registry().note_named(named, made);
    return made;
  }
  if (Executor* named = executor_of_environment()) return *named;
  bool settled = true;
  if (Executor* made = first_executor([](const BackendEntry&) { return true; }, settled)) return *made;
  throw BackendUnavailable("no backend is available");
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

Executor& executor(Backend backend, int device, int copy) try {
  if (device < 0) throw InvalidArgument("device " + std::to_string(device) + " is negative; devices count from 0");
  if (copy < 0)
    throw InvalidArgument("copy " + std::to_string(copy) + " of device " + std::to_string(device) +
                          " is negative; 0 is the device's first executor");
  BackendEntry& e = entry(backend);
  if (e.plugin() != nullptr && e.memory() == Memory::Host)
    throw InvalidArgument("backend " + std::string(e.name()) + " has one executor and no devices; device " +
                          std::to_string(device) + " was asked for");
  BackendEntry::State state;
  if (Executor* made = e.executor_of(device, copy, state)) return *made;
  const std::string why = "device " + std::to_string(device) + " of backend " + std::string(e.name()) +
                          " is not available: " + state.reason;
  if (state.code == StatusCode::OutOfMemory) throw OutOfMemory(why);
  throw BackendUnavailable(why);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

std::span<const GemmKernel> gemm_kernels(Backend backend) try {
  if (backend == Backend::Auto) return executor(backend).gemm_kernels();
  BackendEntry& e = entry(backend);
  if (Executor* made = e.executor()) return made->gemm_kernels();
  const PluginInfo* plugin = e.plugin();
  return plugin != nullptr ? plugin->gemm_kernels() : std::span<const GemmKernel>{};
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

std::span<const ReduceKernel> reduce_kernels(Backend backend) try {
  if (backend == Backend::Auto) return executor(backend).reduce_kernels();
  const PluginInfo* plugin = entry(backend).plugin();
  return plugin != nullptr ? plugin->reduce_kernels() : std::span<const ReduceKernel>{};
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera
