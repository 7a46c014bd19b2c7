#pragma once

/// stream_k where a tile's segments of k are added by the blocks that computed them, one behind the other (M::chained).
/// Segments have no sums of their own in memory, only tiles their totals, and no second kernel adds them.
///
/// A unit is one segment of one tile; units are numbered segment by segment. A block waits until the segments before
/// its own are added. Blocks that had their units by their own numbers could wait for a block that does not run, for
/// other work holds its multiprocessor, and never end if that work waits for them. So units are drawn, in their order.

#include "partial_sums.cuh"
#include "pipeline.cuh"

namespace tessera::cuda::stream_k {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Units for those who copy: one thread draws for all of them.
template <class T>
class DrawnUnits {
 public:
  __device__ explicit DrawnUnits(const Params<T>& params) : params_(params) { draw(0); }
  /// The block's unit of that index: halfway through the one before it, so that nobody waits for its number. Not
  /// sooner: by then those who compute have begun with the one before, each as late as the chain lets it, and who is
  /// ahead in the chain draws first. Else everyone would wait for the whole chain at each unit.
  __device__ void draw(Index index) {
    if (threadIdx.x % producers == 0) number(index) = atomicAdd(params_.drawn_units, 1);
  }
  __device__ bool get(Index index, WorkTile& work) const {
    meet_producers();
    return params_.schedule.whole_tile(number(index), work);
  }

 private:
  /// Of two, since others may still read the one before.
  __device__ static int& number(Index index) {
    __shared__ int numbers[2];
    return numbers[index % 2];
  }

  const Params<T>& params_;
};

/// A tile's totals, which every block that has a segment of it adds to.
template <class M>
class Chain {
  using Sums = typename M::Sums;

 public:
  __device__ Chain(const Params<typename M::Element>& params, Index tile)
      : totals_(StoredSums<M>(params.totals + tile * StoredSums<M>::size)),
        added_(params.flags + tile * (M::threads / 32) + threadIdx.x / 32) {}

  /// Until those before this segment are added.
  __device__ void wait(int segment) const {
    while (Flag(*added_).load(::cuda::std::memory_order_acquire) < segment) __nanosleep(100);
  }
  __device__ void add(Sums& sums, int segment) {
    totals_.add(sums, segment == 0);
    announce(added_, segment + 1);
  }
  /// The last one.
  __device__ void add_to(Sums& sums) const { totals_.add_to(sums); }

 private:
  SegmentTotals<M> totals_;
  int* added_;
};

template <class M, bool with_epilogue, class Stage>
__device__ void consume_units(const Params<typename M::Element>& params, const Stage* stage,
                              Barriers<M::stages>& barriers) {
  const typename M::Place place(static_cast<int>(threadIdx.x));
  typename M::Fragment fragment;
  Ring<M::stages> ring;
  wait_together(barriers.full[0], 0);
  wait_for_kernel_before(); // which is over then
  fragment.load(stage[0], place);
  for (int index = 0;; ++index) {
    const PlannedTile& planned = barriers.planned_tile(index); // read where it is: registers are few
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
      typename M::Sums::Totals held(params.x.k); // for results one by one
      M::template store<with_epilogue>(params.x, planned.origin.row, planned.origin.col, place, sums, held);
    }
    if constexpr (M::reloads) fragment.load(stage[ring.stage], place);
  }
}

#endif

} // namespace tessera::cuda::stream_k
