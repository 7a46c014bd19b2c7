#pragma once

/// The ring of stages between producer warps, which copy operands to shared memory, and consumer warps, which multiply.
/// Sources: PTX ISA, "mbarrier" and "cp.async.mbarrier.arrive"; NVIDIA CUTLASS for the scheme.

#include "cuda/gemm/common/ring.cuh"

namespace tessera::cuda::panel_ring {

#if __CUDA_ARCH__ >= 800

/// Returns the address in shared memory that instructions take. The empty asm hides where it comes from: otherwise the
/// compiler computes the block's window of shared memory anew at each use.
__device__ inline unsigned address_of(const void* x) {
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(x));
  asm volatile("" : "+r"(address));
  return address;
}

/// The barriers of the stages.
template <int stages>
class Barriers {
 public:
  struct Memory {
    std::uint64_t full[stages];  ///< completes when all copies of the stage have arrived
    std::uint64_t empty[stages]; ///< completes when all consumer warps have read the stage
  };

  __device__ explicit Barriers(Memory& memory) : at_(address_of(&memory)) {}

  /// Prepares them; one thread calls this. `fills`: the arrivals that make a stage full.
  __device__ static void start(Memory& memory, int fills, int consumer_warps) {
    for (int s = 0; s < stages; ++s) {
      ::cuda::ptx::mbarrier_init(&memory.full[s], static_cast<unsigned>(fills));
      ::cuda::ptx::mbarrier_init(&memory.empty[s], static_cast<unsigned>(consumer_warps));
    }
  }
  __device__ void wait_until_full(const Ring<stages>& ring) const { wait_at(at_ + ring.stage * 8, ring.phase); }
  /// Returns whether the stage is full already.
  __device__ bool is_full(const Ring<stages>& ring) const {
    unsigned is;
    asm volatile("{ .reg .pred done; mbarrier.test_wait.parity.shared.b64 done, [%1], %2; selp.u32 %0, 1, 0, done; }"
                 : "=r"(is)
                 : "r"(at_ + ring.stage * 8), "r"(ring.phase)
                 : "memory");
    return is != 0;
  }
  __device__ void wait_until_empty(const Ring<stages>& ring) const {
    wait_at(at_ + (stages + ring.stage) * 8, ring.phase ^ 1);
  }
  /// Arrives at the stage when this thread's copies are done.
  __device__ void fill_by_copies(const Ring<stages>& ring) const {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at_ + ring.stage * 8) : "memory");
  }
  /// Arrives at the stage, which all lanes of this warp have written their parts of.
  __device__ void fill(int stage, int lane) const { arrive_for_warp(at_ + stage * 8, lane); }
  /// Gives a stage back that all lanes of this warp have read.
  __device__ void release(int stage, int lane) const { arrive_for_warp(at_ + (stages + stage) * 8, lane); }

 private:
  /// Waits until the phase of this parity is complete.
  __device__ static void wait_at(unsigned barrier, unsigned phase) {
#if __CUDA_ARCH__ >= 900
#define TESSERA_WAIT "mbarrier.try_wait.parity.shared.b64"
#else
#define TESSERA_WAIT "mbarrier.test_wait.parity.shared.b64"
#endif
    asm volatile("{ .reg .pred done; again: " TESSERA_WAIT
                 " done, [%0], %1; @done bra passed; bra again; passed: }" ::"r"(barrier),
                 "r"(phase)
                 : "memory");
#undef TESSERA_WAIT
  }

  __device__ static void arrive_for_warp(unsigned barrier, int lane) {
    __syncwarp();
    if (lane == 0)
      asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(barrier) : "memory");
  }

  unsigned at_;
};

#endif

} // namespace tessera::cuda::panel_ring
