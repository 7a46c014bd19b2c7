#pragma once

/// Describes what the producer warps and the consumer warps of a stream_k block exchange: stages of operands, and
/// descriptions of the work tiles that the stages belong to.

#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/ring.cuh"
#include "params.cuh"

namespace tessera::cuda::stream_k {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A work tile together with the values that need divisions. The consumer warps would compute nothing while they
/// divide, so the producer warps, which run ahead, leave these values in shared memory. The barrier of the work tile's
/// first stage publishes them.
struct PlannedTile {
  WorkTile work; ///< its tile is −1 after the last work tile
  TileOrigin origin;
  Index segment;
  int whole; ///< the end of the work tile's full stages: `work.end`, or one less where k ends early in the last stage
  int rest;  ///< steps of k in the last stage, where k ends early in it
};

template <int stages>
struct Barriers {
  static constexpr int planned_count = stages + 3; ///< more than the work tiles that producer warps can be ahead

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
  /// Arrives when this thread's copies are done.
  __device__ static void arrive_after_copies(std::uint64_t& barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(&barrier)))
                 : "memory");
  }
};

/// Waits until all threads of the producer warps are here, and makes what they have stored visible to one another.
__device__ inline void meet_producers() { asm volatile("barrier.sync 1, %0;" ::"n"(producers) : "memory"); }

/// Returns `value` in a way that tells the compiler that it is equal in all threads of a warp. Otherwise the compiler
/// would keep the ring's position for each thread, and add instructions for threads that diverge on their way to a
/// stage.
__device__ inline int uniform(int value) { return __shfl_sync(~0U, value, 0); }

/// Calls multiply(stage, next) with the ring's current stage and gives that stage back afterwards. next() waits for the
/// stage that follows and returns it.
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
/// Multiplies the first `steps` steps of the stage in which k ends.
template <class M, class Stage>
__device__ void multiply_rest(typename M::Sums& sums, typename M::Fragment& fragment, const Stage* stage,
                              const typename M::Place& place, int steps, Ring<M::stages>& ring,
                              Barriers<M::stages>& barriers) {
  use_stage(stage, ring, barriers,
            [&](const Stage& now, auto next) { M::multiply_rest(sums, fragment, now, place, steps, next); });
}

#endif

} // namespace tessera::cuda::stream_k
