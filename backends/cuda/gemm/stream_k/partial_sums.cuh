#pragma once

/// Sums on their way from a block of stream_k to the next one, and the totals of finished segments of k.
///
/// SegmentTotals are in global memory, where the L2 cache keeps them: in registers is no room, and what a block hands
/// on is there already. In f64 that cache adds to them (M::cache_adds), and nobody waits: one thread adds to a total,
/// or those of a chain do (stream_k_chain.cuh), one segment after the other, each with one rounding, so that the order
/// and the bits are the canonical ones. In f32 it would flush subnormals.

#include <cuda/atomic>

#include "params.cuh"

namespace tessera::cuda::stream_k {

using Flag = ::cuda::atomic_ref<int, ::cuda::thread_scope_device>;

/// To who waits for `value`. What the warp's threads have written to global memory before is there then, too.
__device__ inline void announce(int* flag, int value) {
  __threadfence();
  __syncwarp();
  if (threadIdx.x % 32 == 0) Flag(*flag).store(value, ::cuda::std::memory_order_release);
}

/// One thread's sums, or totals, in global memory.
template <class M>
class StoredSums {
  using T = typename M::Element;
  using Sums = typename M::Sums;

 public:
  static constexpr Index size = Index{Sums::count} * M::threads; ///< of a block's

  __device__ explicit StoredSums(T* of_block) : first_(of_block + threadIdx.x) {}

  __device__ T* at(int e) const { return first_ + e * M::threads; }
  __device__ void put(const Sums& sums) const {
#pragma unroll
    for (int e = 0; e < Sums::count; ++e) __stcg(at(e), sums.at(e));
  }
  __device__ void take(Sums& sums) const {
#pragma unroll
    for (int e = 0; e < Sums::count; ++e) sums.at(e) = __ldcg(at(e));
  }

 private:
  T* first_;
};

/// Where a block leaves sums and totals for the next one.
template <class M>
class HandOff {
  using T = typename M::Element;

 public:
  __device__ HandOff(const Params<T>& params, Index block)
      : totals(params.hand_offs + (block * 2 + 1) * StoredSums<M>::size),
        sums_(params.hand_offs + block * 2 * StoredSums<M>::size),
        flag_(params.flags + block * (M::threads / 32) + threadIdx.x / 32) {}

  /// And the totals, which are there.
  __device__ void put(const typename M::Sums& sums) const {
    sums_.put(sums);
    announce(flag_, 1);
  }
  __device__ void take(typename M::Sums& sums) const {
    while (Flag(*flag_).load(::cuda::std::memory_order_acquire) == 0) __nanosleep(100);
    __syncwarp(); // all have seen it
    if (threadIdx.x % 32 == 0) Flag(*flag_).store(0, ::cuda::std::memory_order_relaxed);
    sums_.take(sums);
  }

  const StoredSums<M> totals;

 private:
  const StoredSums<M> sums_;
  int* flag_;
};

/// Of the segments of a part's tile that are finished.
template <class M>
class SegmentTotals {
  using T = typename M::Element;
  using Sums = typename M::Sums;

 public:
  /// Those of a part that continues or hands on are where both blocks find them. A block's share is at least a tile
  /// long, so that a part does both only if its tile is shorter than others: one segment of several.
  __device__ SegmentTotals(const Params<T>& params, const WorkTile& work)
      : at_(work.hands_on    ? HandOff<M>(params, blockIdx.x).totals
            : work.continues ? HandOff<M>(params, blockIdx.x - 1).totals
                             : StoredSums<M>(params.totals + blockIdx.x * StoredSums<M>::size)) {}
  __device__ explicit SegmentTotals(const StoredSums<M>& at) : at_(at) {}

  /// A segment is finished; the `first` one of the tile.
  __device__ void add(Sums& sums, bool first) {
    if constexpr (M::cache_adds) {
      if (first) return at_.put(sums);
#pragma unroll
      for (int e = 0; e < Sums::count; ++e)
        asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(at_.at(e)), "d"(sums.at(e)) : "memory");
    } else {
      if (!first) add_to(sums);
      at_.put(sums);
    }
  }
  /// The last one is.
  __device__ void add_to(Sums& sums) const {
#pragma unroll
    for (int e = 0; e < Sums::count; ++e) sums.at(e) = __ldcg(at_.at(e)) + sums.at(e);
  }

 private:
  StoredSums<M> at_;
};

} // namespace tessera::cuda::stream_k
