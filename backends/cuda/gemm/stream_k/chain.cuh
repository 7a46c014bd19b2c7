#pragma once

/// The variant of stream_k in which the blocks that computed a tile's segments of k add them in turn (M::chained).
/// Segments have no sums of their own in memory: only tiles have totals, and no second kernel adds them.
///
/// A work item is one segment of one tile. Items are numbered segment by segment. A block waits until the segments
/// before its own are added. If blocks took their items by their block number, a block could wait for one that does not
/// run because another kernel holds its multiprocessor, and neither would end if that kernel waits for it. So blocks
/// draw items in their order.

#include "partial_sums.cuh"
#include "pipeline.cuh"

namespace tessera::cuda::stream_k {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The items of a block, for its producer warps. One thread draws them for all.
template <class T>
class DrawnItems {
 public:
  __device__ explicit DrawnItems(const Params<T>& params) : params_(params) { draw(0); }
  /// Draws the block's item number `index`. The producer warps call it halfway through the item before, so that no
  /// thread waits for the number. They must not call it sooner: by then the consumer warps have begun with the item
  /// before, as late as the chain lets each of them, so the block that is ahead in the chain draws first. Otherwise all
  /// blocks would wait for the whole chain at each item.
  __device__ void draw(Index index) {
    if (threadIdx.x % producers != 0) return;
    const int drawn = atomicAdd(params_.drawn_items, 1);
    number(index) = drawn;
    // Every block draws one number after the last item. The largest of them is the last draw of the kernel, which sets
    // the counter back for the next one.
    if (drawn == params_.schedule.all() + gridDim.x - 1) atomicExch(params_.drawn_items, 0);
  }
  __device__ bool get(Index index, WorkTile& work) const {
    meet_producers();
    return params_.schedule.whole_tile(number(index), work);
  }

 private:
  /// There are two of them, because other threads may still be reading the previous one.
  __device__ static int& number(Index index) {
    __shared__ int numbers[2];
    return numbers[index % 2];
  }

  const Params<T>& params_;
};

/// The totals of a tile, to which every block adds that has a segment of the tile.
template <class M>
class Chain {
  using Sums = typename M::Sums;

 public:
  __device__ Chain(const Params<typename M::Element>& params, Index tile)
      : totals_(StoredSums<M>(params.totals + tile * StoredSums<M>::size)),
        added_(params.flags + tile * (M::threads / 32) + threadIdx.x / 32) {}

  /// Waits until all segments before this one are added.
  __device__ void wait(int segment) const {
    while (Flag(*added_).load(::cuda::std::memory_order_acquire) < segment) __nanosleep(100);
  }
  __device__ void add(Sums& sums, int segment) {
    totals_.add(sums, segment == 0);
    announce(added_, segment + 1);
  }
  /// Adds the totals to the sums of the last segment. No warp waits for these totals any more, so the number of added
  /// segments is set back for the next kernel.
  __device__ void add_to(Sums& sums) const {
    __syncwarp(); // all lanes have seen the number
    if (threadIdx.x % 32 == 0) Flag(*added_).store(0, ::cuda::std::memory_order_relaxed);
    totals_.add_to(sums);
  }

 private:
  TileTotals<M> totals_;
  int* added_;
};

template <class M, bool with_epilogue, class Stage>
__device__ void consume_items(const Params<typename M::Element>& params, const Stage* stage,
                              Barriers<M::stages>& barriers) {
  const typename M::Place place(static_cast<int>(threadIdx.x));
  typename M::Fragment fragment;
  Ring<M::stages> ring;
  wait_together(barriers.full[0], 0);
  wait_for_kernel_before(); // it has ended then
  fragment.load(stage[0], place);
  for (int index = 0;; ++index) {
    const PlannedTile& planned = barriers.planned_tile(index); // it is read in place, because registers are few
    if (planned.work.tile < 0) break;
    typename M::Sums sums;
    M::clear(sums, barriers.zeros);
#pragma unroll 1
    for (int left = planned.whole; left > 0; --left) multiply_stage<M>(sums, fragment, stage, place, ring, barriers);
    if (planned.whole < planned.work.end) multiply_rest<M>(sums, fragment, stage, place, planned.rest, ring, barriers);
    const int segment = static_cast<int>(planned.segment);
    Chain<M> chain(params, planned.work.tile - planned.segment * params.raster.tiles());
    chain.wait(segment);
    if (segment + 1 < params.segments) {
      chain.add(sums, segment);
    } else {
      chain.add_to(sums);
      typename M::Sums::Totals held(params.x.k); // for an epilogue, which takes results one by one
      M::template store<with_epilogue>(params.x, planned.origin.row, planned.origin.col, place, sums, held);
    }
    if constexpr (M::reloads) fragment.load(stage[ring.stage], place);
  }
}

#endif

} // namespace tessera::cuda::stream_k
