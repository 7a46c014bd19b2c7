/// The plug-in's entry point. It says what the plug-in offers and whether this machine can use it.

#include <cstdlib>

#include <tessera/backend/plugin.hpp>

#include "executor.hpp"
#include "opencl/device/device_files.hpp"
#include "opencl/device/environment.hpp"
#include "opencl/gemm/ladder.hpp"
#include "opencl/reduce/ladder.hpp"

namespace tessera::opencl {
namespace {

Status probe() {
  Device device;
  return choose_device(-1, device);
}

Status create(const ExecutorOptions& options, Executor*& executor) {
  std::size_t limit = 0;
  if (Status status = memory_limit_from_environment(limit); !status.ok()) return status;
  bool takes_buffers = false;
  if (Status status = none_from_environment("TESSERA_OPENCL_SVM", "takes buffers on every device", takes_buffers);
      !status.ok())
    return status;
  Device device;
  if (Status status = choose_device(options.device, device); !status.ok()) return status;
  if (Status status = cache_from_environment(device, device.keeps_programs); !status.ok()) return status;
  if (limit != 0) device.memory_limit = limit;
  device.has_svm = device.has_svm && !takes_buffers;
  return OpenClExecutor::create(device, options.backend, executor);
}

bool is_set(const char* variable) {
  const char* const word = std::getenv(variable);
  return word != nullptr && *word != '\0';
}

/// A processor has faster backends, and a GPU that CUDA serves comes before this backend by its preference. Drivers are
/// loaded only where there can be a GPU, or where the environment says what to load.
bool finds_gpu() {
  if (!is_set("TESSERA_OPENCL_LIBRARY") && !is_set("TESSERA_OPENCL_DEVICE") && !has_device_files()) return false;
  Device device;
  return choose_device(-1, device).ok() && (device.type & CL_DEVICE_TYPE_GPU) != 0;
}

/// Auto asks again and again, and the answer is found once.
bool serves_auto() {
  static const bool serves = finds_gpu();
  return serves;
}

constexpr PluginInfo info{
    .struct_size = sizeof(PluginInfo),
    .abi_version = plugin_abi_version,
    .build_tag = TESSERA_BUILD_TAG,
    .name = "opencl",
    .description = "GPUs of any vendor, and processors, through OpenCL",
    .probe = probe,
    .create = create,
    .destroy = [](Executor* executor) { delete executor; },
    .gemm_kernels = [] { return gemm_ladder(); },
    .reduce_kernels = [] { return reduce_ladder(); },
    .memory = Memory::Device,
    .serves_auto = serves_auto,
};

} // namespace
} // namespace tessera::opencl

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept {
  return &tessera::opencl::info;
}
