/// A plug-in under the name cuda whose devices do their work when the host waits for it (queues/lazy_device.hpp), so
/// that a program sees whether its queues wait for one another. Each of the two devices has 8 MiB, or SMALL_DEVICE
/// bytes; device 0 is eager.

#include <algorithm>
#include <cstdlib>
#include <map>

#include <tessera/backend/plugin.hpp>

#include "core/queues/lazy_device.hpp"

namespace {

using namespace tessera;

class SmallLazyDevice final : public test::LazyDevice {
 public:
  explicit SmallLazyDevice(int device) {
    const char* bytes = std::getenv("SMALL_DEVICE");
    capabilities_.memory_bytes = bytes ? std::strtoull(bytes, nullptr, 10) : 8 << 20;
    capabilities_.device_index = device;
    eager = device == 0;
  }

 protected:
  Status run_allocate(std::size_t bytes, void*& memory) noexcept override {
    memory = nullptr;
    if (in_use_ + bytes > capabilities_.memory_bytes) return {StatusCode::OutOfMemory, "the lazy device is full"};
    if (Status status = LazyDevice::run_allocate(bytes, memory); !status.ok()) return status;
    sizes_[memory] = bytes;
    in_use_ += bytes;
    return {};
  }
  void run_free(void* memory) noexcept override {
    in_use_ -= sizes_[memory];
    sizes_.erase(memory);
    LazyDevice::run_free(memory);
  }

 private:
  std::map<void*, std::size_t> sizes_;
  std::size_t in_use_ = 0;
};

const PluginInfo info{
    .struct_size = sizeof(PluginInfo),
    .abi_version = plugin_abi_version,
    .build_tag = TESSERA_BUILD_TAG,
    .name = PLUGIN_NAME,
    .description = "a device that works late, for tests",
    .probe = [] { return Status{}; },
    .create =
        [](const ExecutorOptions& options, Executor*& executor) {
          if (options.device > 1) return Status{StatusCode::Unavailable, "there are 2 lazy devices, 0 and 1"};
          executor = new SmallLazyDevice(std::max(options.device, 0));
          return Status{};
        },
    .destroy = [](Executor* executor) { delete executor; },
    .gemm_kernels = [] { return executor(Backend::Reference).gemm_kernels(); },
    .reduce_kernels = [] { return reduce_kernels(Backend::Reference); },
    .memory = Memory::Device,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept { return &info; }
