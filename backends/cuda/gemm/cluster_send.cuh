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

  __device__ void start(unsigned bytes) {
    namespace ptx = ::cuda::ptx;
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_shared, &barrier, bytes);
  }
  __device__ void wait() {
    namespace ptx = ::cuda::ptx;
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &barrier, 0)) {
    }
  }
};

/// To where `there` and `arrivals` are in another block, whose rank is `block`.
__device__ inline void send(int block, const float* there, float x, const Arrivals& arrivals) {
  asm volatile(
      "{ .reg .b32 to, counted; mapa.shared::cluster.u32 to, %0, %3; mapa.shared::cluster.u32 counted, %1, %3; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [to], %2, [counted]; }" ::"r"(
          static_cast<unsigned>(__cvta_generic_to_shared(there))),
      "r"(static_cast<unsigned>(__cvta_generic_to_shared(&arrivals.barrier))), "r"(__float_as_uint(x)), "r"(block)
      : "memory");
}
__device__ inline void send(int block, const float4* there, const float4& x, const Arrivals& arrivals) {
  asm volatile(
      "{ .reg .b32 to, counted; mapa.shared::cluster.u32 to, %0, %6; mapa.shared::cluster.u32 counted, %1, %6; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [to], {%2, %3, %4, %5}, [counted]; }" ::"r"(
          static_cast<unsigned>(__cvta_generic_to_shared(there))),
      "r"(static_cast<unsigned>(__cvta_generic_to_shared(&arrivals.barrier))), "r"(__float_as_uint(x.x)),
      "r"(__float_as_uint(x.y)), "r"(__float_as_uint(x.z)), "r"(__float_as_uint(x.w)), "r"(block)
      : "memory");
}

#endif

} // namespace tessera::cuda
