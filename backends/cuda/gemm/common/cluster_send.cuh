#pragma once

/// What a block of a cluster tells another one: it writes into that one's shared memory, and a barrier there counts the
/// bytes. No fence of all memory, and nobody reads from far away. PTX ISA, "st.async" and "mbarrier".

#include <cuda/ptx>

namespace tessera::cuda {

#if __CUDA_ARCH__ >= 900

/// For bytes that other blocks send here, once. To be started by one thread, and sent to after a barrier of the
/// cluster; a block must not end before all of them are here, but whoever sent them may.
struct Arrivals {
  std::uint64_t barrier;

  __device__ void start(int bytes) {
    namespace ptx = ::cuda::ptx;
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_shared, &barrier,
                                   static_cast<unsigned>(bytes));
  }
  __device__ void wait() {
    namespace ptx = ::cuda::ptx;
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &barrier, 0)) {
    }
  }
};

/// Where `here` is in another block of the cluster, or in this one.
__device__ inline unsigned place_in(int block, const void* here) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(here))), "r"(block));
  return there;
}

/// `to`, and the barrier of the arrivals there, are places in the same block.
__device__ inline void send(unsigned to, float x, unsigned arrivals) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
               "r"(__float_as_uint(x)), "r"(arrivals)
               : "memory");
}
__device__ inline void send(unsigned to, const float4& x, unsigned arrivals) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
      "r"(__float_as_uint(x.x)), "r"(__float_as_uint(x.y)), "r"(__float_as_uint(x.z)), "r"(__float_as_uint(x.w)),
      "r"(arrivals)
      : "memory");
}

#endif

} // namespace tessera::cuda
