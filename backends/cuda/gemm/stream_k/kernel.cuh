#pragma once

/// The kernel of stream_k. Its parameter M says how a block multiplies (stream_k_f32.cu and stream_k_f64.cu):
///
/// - M::tile: what the choice of tiles has to know (tile_model.hpp).
/// - M::Element: the type of the elements.
/// - M::block_m, M::block_n, M::block_k, M::stages: the tile, and the number of stages in the ring.
/// - M::threads, M::blocks: threads of the consumer warps, and blocks that share a multiprocessor.
/// - M::registers, M::producer_registers: registers of a thread of the consumer and of the producer warps.
/// - M::Stage<a_along, b_along>: a stage, which holds tiles a and b.
/// - M::transposes: whether the tiles are [k][outer], however the operands are stored.
/// - M::Place: the place of a thread's results in the tile.
/// - M::Fragment: a thread's operands in registers; load(stage, place) loads the operands of the stage's first step.
/// - M::Sums, M::clear(sums, zeros): sums, and setting them to 0; `zeros` is a vector of zeros in shared memory.
/// - M::multiply(sums, fragment, stage, place, next): multiplies a whole stage, whose first step is in the fragment,
///   and loads the first step of next(), which waits until that stage is there.
/// - M::multiply_rest(sums, fragment, stage, place, steps, next): multiplies the first `steps` steps of a stage,
///   rounded up to a multiple of M::granule, and loads the first step of next(). It is called for the stage in which k
///   ends, if k leaves M::granule steps or more of it unused.
/// - M::reloads: whether that first step is loaded again after a tile, so that its registers are free meanwhile.
/// - M::cache_adds: whether the L2 cache adds up the totals of segments (partial_sums.cuh).
/// - M::chained: whether blocks draw items and add a tile's segments one after the other (chain.cuh).
/// - M::store<with_epilogue>(x, row, col, place, sums, totals): stores results, with an epilogue or without.
/// - M::store_by_rows(x, row, col, sums): stores a warp's results by way of shared memory, for C whose rows do not
/// begin
///   at whole vectors; not where M::chained.

#include "chain.cuh"
#include "cuda/gemm/common/async_loader.cuh"
#include "cuda/gemm/common/stores/prefetch_lines.cuh"
#include "tile_model.hpp"

namespace tessera::cuda::stream_k {

/// How a kernel stores results: in vectors, which are single elements where C has no whole ones; by rows of a warp, by
/// way of shared memory; or through the call's epilogue.
enum class Storing { Vectors, Rows, Epilogue };

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The work tiles that the schedule has for this block.
template <class T>
class ScheduledWorkTiles {
 public:
  __device__ explicit ScheduledWorkTiles(const Params<T>& params) : params_(params) {}
  __device__ bool get(Index index, WorkTile& work) const { return params_.schedule.work_tile(blockIdx.x, index, work); }

 private:
  const Params<T>& params_;
};

template <class M, class T = typename M::Element>
using WorkTileSource = std::conditional_t<M::chained, DrawnItems<T>, ScheduledWorkTiles<T>>;

template <class M, Along a_along, Along b_along, class Stage>
__device__ void produce(const Params<typename M::Element>& params, Stage* stage, Barriers<M::stages>& barriers) {
  using T = typename M::Element;
  const int thread = static_cast<int>(threadIdx.x) - M::threads;
  Ring<M::stages> ring;
  WorkTile work;
  Index index = 0;
  if constexpr (M::chained) wait_for_kernel_before(); // the constructor below draws an item
  WorkTileSource<M> source(params);
  for (; source.get(index, work); ++index) {
    const Index segment = params.raster.layer(work.tile);
    const VectorOperands<T> x = params.product_of(segment);
    const TileOrigin origin = params.origin(work.tile - segment * params.raster.tiles(), M::block_m, M::block_n);
    Index k0 = work.begin * M::block_k;
    const Index end = work.end * M::block_k;
    if (thread == 0) {
      const int past = end > x.k ? static_cast<int>(end - x.k) : 0;
      const int whole = static_cast<int>(work.end) - (past >= M::granule);
      barriers.planned_tile(index) = {work, origin, segment, whole, M::block_k - past};
    }
    AsyncTileLoader<T, M::block_m, M::block_k, producers, a_along, M::transposes && a_along == Along::K> a(
        slice_a(x, a_along, origin.row).from(k0, a_along), thread);
    AsyncTileLoader<T, M::block_n, M::block_k, producers, b_along, M::transposes && b_along == Along::K> b(
        slice_b(x, b_along, origin.col).from(k0, b_along), thread);
    if (index == 0) wait_for_kernel_before();
    for (; k0 < end; k0 += M::block_k, ring.advance()) {
      if constexpr (M::chained)
        if (k0 == end / (2 * M::block_k) * M::block_k) source.draw(index + 1);
      wait_together(barriers.empty[ring.stage], ring.phase ^ 1);
      a.copy(k0, stage[ring.stage].a.at);
      b.copy(k0, stage[ring.stage].b.at);
      // Padding was stored without cp.async: it must be there before thread 0 arrives.
      if (k0 + M::block_k > x.k) meet_producers();
      barriers.arrive_after_copies(barriers.full[ring.stage]);
      if (thread == 0) barriers.arrive(barriers.full[ring.stage]); // it publishes the planned tile as well
    }
  }
  // Consumer warps look one stage ahead, also at the end.
  wait_together(barriers.empty[ring.stage], ring.phase ^ 1);
  if (thread == 0) {
    barriers.planned_tile(index).work.tile = -1;
    barriers.arrive(barriers.full[ring.stage]);
  }
  barriers.arrive(barriers.full[ring.stage]);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  launch_dependents();
}

/// Asks the L2 cache for the part of C that a tile's results are added to.
template <class M, class T = typename M::Element>
__device__ void prefetch_results(const VectorOperands<T>& x, const TileOrigin& origin) {
  prefetch_lines(x.c + origin.row * x.ldc + origin.col, x.ldc * Index{sizeof(T)},
                 static_cast<int>(min(x.m - origin.row, Index{M::block_m})),
                 static_cast<int>(min(x.n - origin.col, Index{M::block_n}) * Index{sizeof(T)}),
                 static_cast<int>(threadIdx.x), M::threads);
}

template <class M, Storing storing, class Stage>
__device__ void consume(const Params<typename M::Element>& params, const Stage* stage, Barriers<M::stages>& barriers) {
  constexpr int segment = canonical_segment / M::block_k;
  static_assert(canonical_segment % M::block_k == 0);
  using T = typename M::Element;
  const typename M::Place place(static_cast<int>(threadIdx.x));
  typename M::Fragment fragment;
  Ring<M::stages> ring;
  wait_together(barriers.full[0], 0);
  wait_for_kernel_before(); // it has ended then
  fragment.load(stage[0], place);
  for (int index = 0;; ++index) {
    const PlannedTile& planned = barriers.planned_tile(index); // it is read in place, because registers are few
    const WorkTile& work = planned.work;
    if (work.tile < 0) break;
    if constexpr (storing == Storing::Rows)
      if (params.x.beta != T{0} && params.segments == 1 && !work.hands_on)
        prefetch_results<M>(params.x, planned.origin);
    typename M::Sums sums;
    M::clear(sums, barriers.zeros);
    int step = static_cast<int>(work.begin);
    const int end = static_cast<int>(work.end);
    if (work.continues) HandOff<M>(params, blockIdx.x - 1).take(sums);
    TileTotals<M> totals(params, work);
    while (step < end) {
      if (step > 0 && step % segment == 0) {
        totals.add(sums, step == segment);
        M::clear(sums, barriers.zeros);
      }
      const int stop = min(end, step / segment * segment + segment);
      const int whole = min(stop, planned.whole);
#pragma unroll 1
      for (; step < whole; ++step) multiply_stage<M>(sums, fragment, stage, place, ring, barriers);
      if (const int rest = uniform(step < stop ? planned.rest : 0); rest > 0) {
        multiply_rest<M>(sums, fragment, stage, place, rest, ring, barriers);
        ++step;
      }
    }
    if (work.hands_on) {
      HandOff<M>(params, blockIdx.x).put(sums);
      continue;
    }
    if (step > segment) totals.add_to(sums);
    const auto& [row, col] = planned.origin;
    if constexpr (storing == Storing::Rows) {
      M::store_by_rows(params.product_of(planned.segment), row, col, sums);
    } else {
      typename M::Sums::Totals held(params.x.k); // for an epilogue, which takes results one by one
      constexpr bool with_epilogue = storing == Storing::Epilogue;
      M::template store<with_epilogue>(params.product_of(planned.segment), row, col, place, sums, held);
    }
    if constexpr (M::reloads) fragment.load(stage[ring.stage], place);
  }
}

#endif

/// The kernel moves registers from the producer warps to the consumer warps. M::blocks blocks share a multiprocessor's
/// registers.
template <class M, Storing storing, Along a_along, Along b_along>
__global__ void __launch_bounds__(M::threads + producers, M::blocks)
    multiply(const __grid_constant__ Params<typename M::Element> params) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  // Aligned, because a sector of memory that is copied in two halves is fetched twice.
  extern __shared__ __align__(128) float4 shared[];
  auto* const stage = reinterpret_cast<typename M::template Stage<a_along, b_along>*>(shared);
  __shared__ Barriers<M::stages> barriers;
  if (threadIdx.x == 0) barriers.start(M::threads / 32);
  __syncthreads();
  if (threadIdx.x >= M::threads) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(M::producer_registers));
    produce<M, a_along, b_along>(params, stage, barriers);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(M::registers));
    if constexpr (M::chained)
      consume_items<M, storing == Storing::Epilogue>(params, stage, barriers);
    else
      consume<M, storing>(params, stage, barriers);
  }
#endif
}

} // namespace tessera::cuda::stream_k
