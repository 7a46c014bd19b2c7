#pragma once

/// Messages between the blocks of a cluster. A block writes into the shared memory of another block, and a barrier
/// there counts the bytes, so that no fence of all memory is needed and no block reads remote memory. Sources: PTX ISA,
/// "st.async" and "mbarrier".

#include <cstring>
#include <cuda/ptx>

namespace tessera::cuda {

#if __CUDA_ARCH__ >= 900

/// A barrier for bytes that other blocks send to this block, once. One thread calls start(); other blocks may send
/// after a barrier of the cluster that follows. This block must not end before all bytes have arrived; a sending block
/// may.
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

/// Returns the address, in the shared memory of block `block` of the cluster, that corresponds to `here`. The block may
/// be this one.
__device__ inline unsigned place_in(int block, const void* here) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(here))), "r"(block));
  return there;
}

/// Sends x to the address `to`; the barrier at `arrivals` counts its bytes. Both addresses come from place_in and are
/// in one block.
__device__ inline void send(unsigned to, const float4& x, unsigned arrivals) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
      "r"(__float_as_uint(x.x)), "r"(__float_as_uint(x.y)), "r"(__float_as_uint(x.z)), "r"(__float_as_uint(x.w)),
      "r"(arrivals)
      : "memory");
}
/// Sends an array of 4, 8 or 16 bytes.
template <class T, int count>
__device__ void send(unsigned to, const T (&x)[count], unsigned arrivals) {
  constexpr int words = sizeof(x) / 4;
  if constexpr (words == 4) {
    float4 vector;
    std::memcpy(&vector, x, sizeof(x));
    return send(to, vector, arrivals);
  }
  unsigned bits[words];
  std::memcpy(bits, x, sizeof(x));
  if constexpr (words == 2)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(to),
                 "r"(bits[0]), "r"(bits[1]), "r"(arrivals)
                 : "memory");
  else if constexpr (words == 1)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
                 "r"(bits[0]), "r"(arrivals)
                 : "memory");
}

#endif

} // namespace tessera::cuda
