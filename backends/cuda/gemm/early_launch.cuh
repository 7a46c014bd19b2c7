#pragma once

/// A kernel that is launched before the one whose results it needs has ended, so that the launch costs nothing. CUDA
/// C++ Programming Guide, "Programmatic Dependent Launch". Nothing happens before compute capability 9.0.

#include <cuda_runtime.h>

#include "status.hpp"

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

/// What that kernel does before it reads what the one before it wrote.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Behind what is in the stream; `early`: before the kernel there has ended, if it allows that.
template <class... Arguments>
Status launch_behind(cudaStream_t stream, unsigned blocks, int threads, std::size_t shared, bool early,
                     const char* name, void (*kernel)(Arguments...), const Arguments&... arguments) noexcept {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = static_cast<unsigned>(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = early ? 1 : 0;
  return check(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

} // namespace tessera::cuda
