#pragma once

/// A barrier in shared memory at which one thread arrives and others wait. Each arrival ends a phase; phases have the
/// numbers 0 and 1 by turns. Before compute capability 8.0 it is the number of phases that have ended. Source: PTX ISA,
/// "mbarrier".

#include <cstdint>

namespace tessera::cuda {

using GroupBarrier = std::uint64_t;

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ unsigned place_of(const GroupBarrier& barrier) {
  return static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
}
#endif

/// One thread does so, before a barrier of the block.
__device__ __forceinline__ void initialize(GroupBarrier& barrier) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(place_of(barrier)) : "memory");
#else
  barrier = 0;
#endif
}

/// What the thread knows of is known to all that have waited.
__device__ __forceinline__ void arrive(GroupBarrier& barrier) {
#if __CUDA_ARCH__ >= 800
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(place_of(barrier)) : "memory");
#else
  __threadfence_block();
  volatile GroupBarrier& phases = barrier;
  phases = phases + 1; // one thread alone arrives in a phase
#endif
}

/// Waits until the phase ends.
__device__ __forceinline__ void wait(const GroupBarrier& barrier, unsigned phase) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @done bra passed; bra again; "
      "passed: }" ::"r"(place_of(barrier)),
      "r"(phase)
      : "memory");
#elif __CUDA_ARCH__ >= 800
  asm volatile(
      "{ .reg .pred done; again: mbarrier.test_wait.parity.shared.b64 done, [%0], %1; @done bra passed; bra again; "
      "passed: }" ::"r"(place_of(barrier)),
      "r"(phase)
      : "memory");
#else
  const volatile GroupBarrier& phases = barrier;
  while (phases % 2 == phase) {
  }
  __threadfence_block();
#endif
}

} // namespace tessera::cuda
