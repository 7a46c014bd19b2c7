/// A plug-in under the name cuda whose device has little memory: 8 MiB, or SMALL_DEVICE bytes. With
/// SMALL_DEVICE_FETCHES=n it is out of memory after n copies to the host. It multiplies with the reference's kernels.
/// While SMALL_DEVICE_NO_HOST is set, it has no host memory for its copies; while SMALL_DEVICE_NO_STEPS is set, it
/// rejects the steps of factorisations. There are two such devices.
/// SMALL_DEVICE_BREAKS=d:n lets device d fail at its copies in after n of them. With SMALL_DEVICE_REACHES it copies
/// from the memory of the other one directly. Its work is done when a call returns. But it fails where a program
/// changes host memory that a GPU might still be copying (watched_copies.hpp), and it reports on stderr the streams
/// that its queue is ordered against or adopts.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/backend/plugin.hpp>

#include "support/borrowing_executor.hpp"
#include "support/panels.hpp"
#include "watched_copies.hpp"

namespace {

using namespace tessera;

class SmallQueue final : public test::WatchedQueue {
 public:
  void* native() noexcept override { return reinterpret_cast<void*>(std::intptr_t{5000}); }
  Status start_after(void* stream) noexcept override { return say("starts after", stream); }
  Status finish_before(void* stream) noexcept override { return say("finishes before", stream); }

 private:
  static Status say(const char* what, void* stream) {
    std::fprintf(stderr, "small device %s %td\n", what, reinterpret_cast<std::intptr_t>(stream));
    return {};
  }
};

class SmallDevice final : public test::BorrowingExecutor {
 public:
  explicit SmallDevice(int device) : BorrowingExecutor(Backend::Cuda) {
    const char* bytes = std::getenv("SMALL_DEVICE");
    capabilities_.device = "small device";
    capabilities_.host_memory = false;
    capabilities_.memory_bytes = bytes ? std::strtoull(bytes, nullptr, 10) : 8 << 20;
    capabilities_.device_index = device;
    capabilities_.has_panels = true;
    if (const char* breaks = std::getenv("SMALL_DEVICE_BREAKS"); breaks && std::atoi(breaks) == device)
      copies_left_ = std::atoi(std::strchr(breaks, ':') + 1);
    if (const char* fetches = std::getenv("SMALL_DEVICE_FETCHES")) fetches_left_ = std::atoi(fetches);
  }

  Status run_allocate(std::size_t bytes, void*& memory) noexcept override try {
    std::lock_guard lock(mutex_);
    memory = nullptr;
    if (in_use_ + bytes > capabilities_.memory_bytes) return {StatusCode::OutOfMemory, "the small device is full"};
    if (Status status = HostExecutor::run_allocate(bytes, memory); !status.ok()) return status;
    std::memset(memory, 0xff, bytes); // NaN
    sizes_[memory] = bytes;
    in_use_ += bytes;
    return {};
  } catch (const std::bad_alloc& error) {
    HostExecutor::run_free(memory);
    memory = nullptr;
    return out_of_memory(error);
  }
  void run_free(void* memory) noexcept override {
    if (memory == nullptr) return;
    std::lock_guard lock(mutex_);
    std::memset(memory, 0xff, sizes_[memory]); // a call that still reads it gets NaN
    in_use_ -= sizes_[memory];
    sizes_.erase(memory);
    HostExecutor::run_free(memory);
  }

  Status run_copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                     std::size_t width, std::size_t rows) noexcept override {
    if (Status status = count_copy_in(); !status.ok()) return status;
    return HostExecutor::run_copy_in(queue, device, device_pitch, host, host_pitch, width, rows);
  }
  Status run_copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device, std::size_t device_pitch,
                      std::size_t width, std::size_t rows) noexcept override {
    if (fetches_left_ == 0) return {StatusCode::OutOfMemory, "the small device has no memory for copies"};
    --fetches_left_;
    return HostExecutor::run_copy_out(queue, host, host_pitch, device, device_pitch, width, rows);
  }

  Status run_allocate_host(std::size_t bytes, void*& memory) noexcept override try {
    memory = nullptr;
    if (std::getenv("SMALL_DEVICE_NO_HOST") != nullptr)
      return {StatusCode::OutOfMemory, "the small device has no host memory"};
    Status status = HostExecutor::run_allocate_host(bytes, memory);
    std::lock_guard lock(mutex_);
    if (status.ok()) host_memory_[memory] = bytes;
    return status;
  } catch (const std::bad_alloc& error) {
    HostExecutor::run_free_host(memory);
    memory = nullptr;
    return out_of_memory(error);
  }
  void run_free_host(void* memory) noexcept override {
    std::lock_guard lock(mutex_);
    host_memory_.erase(memory);
    HostExecutor::run_free_host(memory);
  }
  Status run_enqueue_copy(Queue& queue, const CopyCall& call) noexcept override try {
    if (call.direction == CopyDirection::In)
      if (Status status = count_copy_in(); !status.ok()) return status;
    auto* const watched = dynamic_cast<test::WatchedQueue*>(&queue);
    if (watched != nullptr && call.direction == CopyDirection::In && is_for_copies(call.from))
      watched->copies()->add(call);
    if (std::getenv("SMALL_DEVICE_REACHES") != nullptr && dynamic_cast<SmallDevice*>(call.source) != nullptr) {
      CopyCall within = call;
      within.source = nullptr;
      return HostExecutor::run_enqueue_copy(queue, within);
    }
    return HostExecutor::run_enqueue_copy(queue, call);
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error);
  }
  Status create_queue(std::unique_ptr<Queue>& queue) noexcept override try {
    queue = std::make_unique<test::WatchedQueue>();
    return {};
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error);
  }
  Status create_event(std::unique_ptr<Event>& event) noexcept override try {
    event = std::make_unique<test::WatchedEvent>();
    return {};
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error);
  }

  Status run_panel(Queue&, const PanelCall& call) noexcept override {
    if (std::getenv("SMALL_DEVICE_NO_STEPS") != nullptr)
      return {StatusCode::Rejected, "the small device takes no steps"};
    return test::run_panel_loops(call);
  }

  Queue& default_queue() noexcept override { return queue_; }
  Status adopt_stream(void* stream, std::unique_ptr<Queue>& queue) noexcept override {
    std::fprintf(stderr, "small device adopts %td\n", reinterpret_cast<std::intptr_t>(stream));
    return create_queue(queue);
  }

 private:
  /// Fails at all copies in but the first ones.
  Status count_copy_in() {
    if (copies_left_ == 0) return {StatusCode::DeviceError, "the small device fell off the bus"};
    --copies_left_;
    return {};
  }
  /// Is the address in memory that allocate_host() gave?
  bool is_for_copies(const void* address) {
    std::lock_guard lock(mutex_);
    auto next = host_memory_.upper_bound(address);
    if (next == host_memory_.begin()) return false;
    --next;
    return static_cast<const char*>(address) < static_cast<const char*>(next->first) + next->second;
  }

  SmallQueue queue_;
  std::mutex mutex_;
  std::size_t in_use_ = 0;
  std::atomic<int> fetches_left_ = -1; ///< negative: no limit
  std::atomic<int> copies_left_ = -1;
  std::unordered_map<void*, std::size_t> sizes_;
  std::map<const void*, std::size_t> host_memory_;
};

const PluginInfo info{
    .struct_size = sizeof(PluginInfo),
    .abi_version = plugin_abi_version,
    .build_tag = TESSERA_BUILD_TAG,
    .name = PLUGIN_NAME,
    .description = "a device with little memory, for tests",
    .probe = [] { return Status{}; },
    .create =
        [](const ExecutorOptions& options, Executor*& executor) {
          if (options.device > 1)
            return Status{StatusCode::Unavailable,
                          "there are 2 small devices, 0 and 1, and no device " + std::to_string(options.device)};
          executor = new SmallDevice(std::max(options.device, 0));
          return Status{};
        },
    .destroy = [](Executor* executor) { delete executor; },
    .gemm_kernels = [] { return executor(Backend::Reference).gemm_kernels(); },
    .reduce_kernels = [] { return reduce_kernels(Backend::Reference); },
    .memory = Memory::Device,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept { return &info; }
