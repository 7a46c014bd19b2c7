#pragma once

/// Launching kernels, also before the one whose results they need has ended, so that the launch costs nothing. CUDA C++
/// Programming Guide, "Programmatic Dependent Launch". Nothing happens before compute capability 9.0.

#include <cuda_runtime.h>

#include <tessera/types.hpp>

#include "cuda/device/status.hpp"

namespace tessera::cuda {

/// So much shared memory that no second block of such a kernel fits a multiprocessor of Hopper, which has 228 KiB.
/// Blocks that are launched early else go, several at a time, where the kernel before ends first.
constexpr std::size_t more_than_half = 114 << 10;

/// The next kernel in the stream may start once all blocks have said this, or ended.
__device__ inline void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// What that kernel does, in all of its blocks, before it reads or writes anything that kernels before it may use:
/// operands, C, and scratch memory that is used again.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// How a kernel is launched behind what is in the stream. CUDA C++ Programming Guide, "Thread Block Clusters".
struct Launch {
  Index blocks;
  int threads;
  std::size_t shared = 0;    ///< dynamic, bytes
  bool programmatic = false; ///< before the kernel there has ended, if that allows it
  int cluster = 0;           ///< blocks of one, of which `blocks` is a multiple; 0: without clusters
};

template <class... Arguments>
Status launch_kernel(cudaStream_t stream, const Launch& how, const char* name, void (*kernel)(Arguments...),
                     const Arguments&... arguments) noexcept {
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(how.blocks);
  config.blockDim = static_cast<unsigned>(how.threads);
  config.dynamicSmemBytes = how.shared;
  config.stream = stream;
  config.attrs = attributes;
  if (how.cluster > 0) {
    cudaLaunchAttribute& clusters = attributes[config.numAttrs++];
    clusters.id = cudaLaunchAttributeClusterDimension;
    clusters.val.clusterDim = {static_cast<unsigned>(how.cluster), 1, 1};
  }
  if (how.programmatic) {
    cudaLaunchAttribute& overlap = attributes[config.numAttrs++];
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
  }
  return check(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

} // namespace tessera::cuda
