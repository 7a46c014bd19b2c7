#pragma once

/// A ring of stages in shared memory between warps that fill them and warps that empty them, without a barrier of the
/// whole block. PTX ISA, "mbarrier"; NVIDIA CUTLASS has the scheme.

#include <cuda/ptx>

namespace tessera::cuda {

/// Which stage is next, and how often the ring has gone round.
template <int stages>
struct Ring {
  int stage = 0;
  unsigned phase = 0;
  /// `count`: if not all of the stages are used.
  __device__ void advance(int count = stages) {
    if (++stage == count) {
      stage = 0;
      phase ^= 1;
    }
  }
  __device__ int previous() const { return stage == 0 ? stages - 1 : stage - 1; }
};

/// Where the operands of the step after this one are: a stage and the first k in it.
template <class Stage>
struct Ahead {
  const Stage* stage;
  int p;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ inline void wait(std::uint64_t& barrier, unsigned phase) {
  while (!::cuda::ptx::mbarrier_try_wait_parity(&barrier, phase)) {
  }
}
/// For all threads of a warp: a loop that they leave together needs no instructions to meet again behind it.
__device__ inline void wait_together(std::uint64_t& barrier, unsigned phase) {
  while (!__all_sync(~0U, ::cuda::ptx::mbarrier_try_wait_parity(&barrier, phase))) {
  }
}

#endif

} // namespace tessera::cuda
