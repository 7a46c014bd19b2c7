#pragma once

/// What those who copy and those who compute in a block of stream_k leave for one another: stages of operands, and
/// plans of the parts that these belong to.

#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/ring.cuh"
#include "params.cuh"

namespace tessera::cuda::stream_k {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A part, with what takes divisions to find out: some ten of them, a thousand cycles in which nobody would compute. So
/// the warps that copy, which are ahead, leave it in shared memory, behind the barrier of the part's first stage.
struct PlannedTile {
  WorkTile work; ///< tile −1 after the last
  TileOrigin origin;
  Index segment;
  int whole; ///< the part's end, or its last stage, if k ends early in that
  int rest;  ///< steps of k in that one
};

template <int stages>
struct Barriers {
  static constexpr int planned_count = stages + 3; ///< those who copy are at most that many parts ahead, less one

  std::uint64_t full[stages], empty[stages];
  PlannedTile planned[planned_count];
  alignas(16) float zeros[4];

  __device__ void start(int consumer_warps) {
    for (int s = 0; s < stages; ++s) {
      ::cuda::ptx::mbarrier_init(&full[s], producers + 1);
      ::cuda::ptx::mbarrier_init(&empty[s], static_cast<unsigned>(consumer_warps));
    }
    for (float& zero : zeros) zero = 0;
  }
  __device__ PlannedTile& planned_tile(Index index) { return planned[static_cast<unsigned>(index) % planned_count]; }
  __device__ static void arrive(std::uint64_t& barrier) { static_cast<void>(::cuda::ptx::mbarrier_arrive(&barrier)); }
  /// When this thread's copies are done.
  __device__ static void arrive_after_copies(std::uint64_t& barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(&barrier)))
                 : "memory");
  }
};

/// All who copy are here, and what they have stored.
__device__ inline void meet_producers() { asm volatile("barrier.sync 1, %0;" ::"n"(producers) : "memory"); }

/// The same for all threads of a warp, and the compiler knows it: else it would keep the ring's place for each thread,
/// and have instructions for threads that part on their way to a stage.
__device__ inline int uniform(int value) { return __shfl_sync(~0U, value, 0); }

/// multiply(stage, next) with the ring's stage, which is given back then; the next one is there.
template <int stages, class Stage, class Multiply>
__device__ void use_stage(const Stage* stage, Ring<stages>& ring, Barriers<stages>& barriers, Multiply multiply) {
  multiply(stage[ring.stage], [&]() -> const Stage& {
    ring.advance();
    wait_together(barriers.full[ring.stage], ring.phase);
    return stage[ring.stage];
  });
  __syncwarp();
  if (threadIdx.x % 32 == 0) barriers.arrive(barriers.empty[ring.previous()]);
}
template <class M, class Stage>
__device__ void multiply_stage(typename M::Sums& sums, typename M::Fragment& fragment, const Stage* stage,
                               const typename M::Place& place, Ring<M::stages>& ring, Barriers<M::stages>& barriers) {
  use_stage(stage, ring, barriers, [&](const Stage& now, auto next) { M::multiply(sums, fragment, now, place, next); });
}
/// The first steps of the stage that k ends in.
template <class M, class Stage>
__device__ void multiply_rest(typename M::Sums& sums, typename M::Fragment& fragment, const Stage* stage,
                              const typename M::Place& place, int steps, Ring<M::stages>& ring,
                              Barriers<M::stages>& barriers) {
  use_stage(stage, ring, barriers,
            [&](const Stage& now, auto next) { M::multiply_rest(sums, fragment, now, place, steps, next); });
}

#endif

} // namespace tessera::cuda::stream_k
