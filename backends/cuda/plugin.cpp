/// The plug-in's entry point. It says what the plug-in offers and whether this machine can use it.

#include <tessera/backend/plugin.hpp>

#include "cuda/device/device.hpp"
#include "cuda/device/environment.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/reduce/ladder.hpp"
#include "executor.hpp"

namespace tessera::cuda {
namespace {

Status probe() {
  int device = 0;
  return choose_device(-1, device);
}

Status create(const ExecutorOptions& options, Executor*& executor) {
  std::size_t memory_limit = 0;
  if (Status status = memory_limit_from_environment(memory_limit); !status.ok()) return status;
  int device = 0;
  if (Status status = choose_device(options.device, device); !status.ok()) return status;
  return CudaExecutor::create(device, memory_limit, options.threads, executor);
}

constexpr PluginInfo info{
    .struct_size = sizeof(PluginInfo),
    .abi_version = plugin_abi_version,
    .build_tag = TESSERA_BUILD_TAG,
    .name = "cuda",
    .description = "NVIDIA GPUs through CUDA",
    .probe = probe,
    .create = create,
    .destroy = [](Executor* executor) { delete executor; },
    .gemm_kernels = [] { return gemm_ladder(); },
    .reduce_kernels = [] { return reduce_ladder(); },
    .memory = Memory::Device,
};

} // namespace
} // namespace tessera::cuda

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept {
  return &tessera::cuda::info;
}
