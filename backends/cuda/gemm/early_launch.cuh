#pragma once

/// A kernel that is launched before the one whose results it needs has ended, so that the launch costs nothing. CUDA
/// C++ Programming Guide, "Programmatic Dependent Launch". Nothing happens before compute capability 9.0.

#include <cuda_runtime_api.h>

namespace tessera::cuda {

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

} // namespace tessera::cuda
