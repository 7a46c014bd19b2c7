/// The backends of this process: each loaded when it is first asked for, its executor made once and kept.

#include <tessera/backend.hpp>

#include <array>
#include <atomic>
#include <mutex>

#include <tessera/backend/log.hpp>

#include "dispatch/tuning/tuned_rows.hpp"
#include "plugin_loader.hpp"
#include "reference/plugin.hpp"

namespace tessera {
namespace {

constexpr std::array<Backend, 4> preference{Backend::Cuda, Backend::OpenMP, Backend::Tbb, Backend::Reference};

/// One backend. Never destroyed: executors must outlive every static Matrix.
struct Entry {
  explicit Entry(Backend which) : backend(which) {}

  const PluginInfo* plugin() {
    std::lock_guard lock(mutex);
    return load();
  }

  /// Null with the reason in `info`.
  Executor* executor() {
    if (Executor* known = made.load(std::memory_order_acquire)) return known; // every product asks: no lock
    std::lock_guard lock(mutex);
    if (made != nullptr || load() == nullptr) return made;
    const ExecutorOptions options{.threads = default_threads(), .device = -1};
    Executor* fresh = nullptr;
    if (const Status status = create_guarded(*loaded.plugin, options, fresh); !status.ok()) reason = status.why;
    if (fresh != nullptr) try {
        fresh->use_tuning(detail::find_tuned_rows(*fresh, std::filesystem::path(loaded.path).parent_path()));
      } catch (const IoError& why) { // TESSERA_TUNING names what cannot be used
        reason = why.what();
        loaded.plugin->destroy(fresh);
        fresh = nullptr;
      }
    if (log_dispatch())
      log_line("backend " + std::string(to_string(backend)) + (fresh ? " is up" : " is not available: " + reason));
    made.store(fresh, std::memory_order_release);
    return fresh;
  }

  const Backend backend;
  LoadedPlugin loaded;
  bool tried = false;
  std::atomic<Executor*> made = nullptr;
  std::string reason;
  std::mutex mutex;

 private:
  const PluginInfo* load() {
    if (!tried) {
      tried = true;
      if (backend == Backend::Reference)
        loaded.plugin = reference::plugin();
      else
        loaded = load_plugin(to_string(backend));
      reason = loaded.reason;
    }
    return loaded.plugin;
  }
};

Entry& entry(Backend backend) {
  static auto* entries = new std::array<Entry, 4>{Entry(Backend::Reference), Entry(Backend::OpenMP),
                                                  Entry(Backend::Tbb), Entry(Backend::Cuda)};
  const auto index = static_cast<std::size_t>(static_cast<int>(backend) - 1);
  if (index >= entries->size())
    throw InvalidArgument("backend " + std::to_string(static_cast<int>(backend)) + " (" +
                          std::string(to_string(backend)) + ") is not one backend; name one");
  return (*entries)[index];
}

} // namespace

std::vector<BackendInfo> available_backends() {
  std::vector<BackendInfo> all;
  for (const Backend backend : preference) {
    Entry& e = entry(backend);
    const bool available = e.executor() != nullptr;
    all.push_back({backend, e.loaded.plugin != nullptr, available, available ? "" : e.reason, e.loaded.path});
  }
  return all;
}

Executor& executor(Backend backend) {
  if (backend != Backend::Auto) {
    Entry& e = entry(backend);
    if (Executor* made = e.executor()) return *made;
    throw BackendUnavailable("backend " + std::string(to_string(backend)) + " is not available: " + e.reason);
  }
  for (const Backend candidate : preference)
    if (Executor* made = entry(candidate).executor()) return *made;
  throw BackendUnavailable("no backend is available");
}

std::span<const GemmKernel> gemm_kernels(Backend backend) {
  if (backend == Backend::Auto) return executor(backend).gemm_kernels();
  Entry& e = entry(backend);
  if (Executor* made = e.executor()) return made->gemm_kernels();
  const PluginInfo* plugin = e.plugin();
  return plugin ? plugin->gemm_kernels() : std::span<const GemmKernel>{};
}

std::span<const ReduceKernel> reduce_kernels(Backend backend) {
  if (backend == Backend::Auto) return executor(backend).reduce_kernels();
  const PluginInfo* plugin = entry(backend).plugin();
  return plugin ? plugin->reduce_kernels() : std::span<const ReduceKernel>{};
}

} // namespace tessera
