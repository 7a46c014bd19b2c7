#pragma once

/// A ring of stages in shared memory. Producer warps fill the stages and consumer warps empty them, without a barrier
/// of the whole block. Sources: PTX ISA, "mbarrier"; NVIDIA CUTLASS has the scheme.

#include <cuda/ptx>

namespace tessera::cuda {

/// The next stage of a ring, and the parity (`phase`) of the number of times that it has gone round.
template <int stages>
struct Ring {
  int stage = 0;
  unsigned phase = 0;
  /// Moves on to the next stage. `count` is the number of stages in use, if not all are.
  __device__ void advance(int count = stages) {
    if (++stage == count) {
      stage = 0;
      phase ^= 1;
    }
  }
  __device__ int previous() const { return stage == 0 ? stages - 1 : stage - 1; }
};

/// The place of the next step's operands: a stage and the first k in it.
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
/// Waits like wait(), for all threads of a warp. They leave the loop together, so that no instructions are needed to
/// converge again.
__device__ inline void wait_together(std::uint64_t& barrier, unsigned phase) {
  while (!__all_sync(~0U, ::cuda::ptx::mbarrier_try_wait_parity(&barrier, phase))) {
  }
}

/// Returns the address in shared memory that instructions take.
__device__ inline unsigned shared_address(const void* x) { return static_cast<unsigned>(__cvta_generic_to_shared(x)); }

/// Waits like wait(), for a barrier by its address in shared memory. With a pointer, the compiler computes the block's
/// window of shared memory anew in each round of a loop.
__device__ inline void wait_at(unsigned barrier, unsigned phase) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @done bra passed; bra again; "
      "passed: }" ::"r"(barrier),
      "r"(phase)
      : "memory");
}

/// Reads numbers at an address in shared memory.
__device__ inline float shared_float(unsigned address) {
  float x;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(address) : "memory");
  return x;
}
__device__ inline float2 shared_floats(unsigned address) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(address) : "memory");
  return x;
}
__device__ inline float4 shared_vector(unsigned address) {
  float4 x;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "r"(address)
               : "memory");
  return x;
}
/// Writes numbers at an address in shared memory.
__device__ inline void store_shared(unsigned address, float4 x) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w)
               : "memory");
}

#endif

} // namespace tessera::cuda
