#pragma once

/// Launches kernels, also as programmatic dependent launches: a kernel starts before the previous kernel of the stream
/// has ended, so that its launch costs nothing. Before compute capability 9.0 the device functions do nothing. Source:
/// CUDA C++ Programming Guide, "Programmatic Dependent Launch".

#include <cuda_runtime.h>

#include <tessera/types.hpp>

#include "cuda/device/status.hpp"

namespace tessera::cuda {

/// Bytes of dynamic shared memory that keep a second block of a kernel off the multiprocessor: Hopper has 228 KiB.
/// Otherwise several blocks of a programmatic launch would start on the multiprocessors where the previous kernel ends
/// first.
constexpr std::size_t more_than_half = 114 << 10;

/// Allows the next kernel of the stream to start once all blocks have called this or ended.
__device__ inline void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Waits until the previous kernel of the stream has ended. All blocks of a programmatic launch call it before they
/// read or write anything that earlier kernels may use: operands, C, and scratch memory that is used again.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Describes how a kernel is launched. Source for clusters: CUDA C++ Programming Guide, "Thread Block Clusters".
struct Launch {
  Index blocks;
  int threads;
  std::size_t shared = 0;    ///< bytes of dynamic shared memory
  bool programmatic = false; ///< starts once the previous kernel allows it, before that kernel has ended
  int cluster = 0;           ///< blocks of a cluster, a divisor of `blocks`; 0: no clusters
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
