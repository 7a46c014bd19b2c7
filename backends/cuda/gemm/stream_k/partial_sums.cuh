#pragma once

/// Sums that one block of stream_k hands on to the next one, and the totals of finished segments of k.
///
/// Totals are in global memory, where the L2 cache keeps them: registers have no room for them, and sums that a block
/// hands on are in that memory already. In f64 the L2 cache adds to the totals (M::cache_adds), so no warp waits for
/// them. Only one thread adds to a total, or in a chain (chain.cuh) one thread of each block in turn, one segment after
/// the other, and each addition rounds once. So the order and the bits are the contract's. In f32 the L2 cache
/// would flush subnormals.

#include <cuda/atomic>

#include "params.cuh"

namespace tessera::cuda::stream_k {

using Flag = ::cuda::atomic_ref<int, ::cuda::thread_scope_device>;

/// Sets the flag that another block's warp waits for. What this warp's threads have written to global memory is visible
/// to a warp that has seen `value`.
__device__ inline void announce(int* flag, int value) {
  __threadfence();
  __syncwarp();
  if (threadIdx.x % 32 == 0) Flag(*flag).store(value, ::cuda::std::memory_order_release);
}

/// The place of one thread's sums, or totals, in global memory.
template <class M>
class StoredSums {
  using T = typename M::Element;
  using Sums = typename M::Sums;

 public:
  static constexpr Index size = Index{Sums::count} * M::threads; ///< elements of one block

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

/// The place where a block leaves its sums and totals for the next block.
template <class M>
class HandOff {
  using T = typename M::Element;

 public:
  __device__ HandOff(const Params<T>& params, Index block)
      : totals(params.hand_offs + (block * 2 + 1) * StoredSums<M>::size),
        sums_(params.hand_offs + block * 2 * StoredSums<M>::size),
        flag_(params.flags + block * (M::threads / 32) + threadIdx.x / 32) {}

  /// Hands on the sums. The totals are in place already.
  __device__ void put(const typename M::Sums& sums) const {
    sums_.put(sums);
    announce(flag_, 1);
  }
  __device__ void take(typename M::Sums& sums) const {
    while (Flag(*flag_).load(::cuda::std::memory_order_acquire) == 0) __nanosleep(100);
    __syncwarp(); // all lanes have seen the flag
    if (threadIdx.x % 32 == 0) Flag(*flag_).store(0, ::cuda::std::memory_order_relaxed);
    sums_.take(sums);
  }

  const StoredSums<M> totals;

 private:
  const StoredSums<M> sums_;
  int* flag_;
};

/// The totals of the finished segments of a work tile.
template <class M>
class TileTotals {
  using T = typename M::Element;
  using Sums = typename M::Sums;

 public:
  /// The totals of a work tile that continues another one, or is handed on, lie in the hand-off, where both blocks find
  /// them. A work tile is both only if its tile is shorter than others, which is one segment of several: otherwise a
  /// block's run is at least as long as a tile.
  __device__ TileTotals(const Params<T>& params, const WorkTile& work)
      : at_(work.hands_on    ? HandOff<M>(params, blockIdx.x).totals
            : work.continues ? HandOff<M>(params, blockIdx.x - 1).totals
                             : StoredSums<M>(params.totals + blockIdx.x * StoredSums<M>::size)) {}
  __device__ explicit TileTotals(const StoredSums<M>& at) : at_(at) {}

  /// Adds the sums of a finished segment to the totals; `first` says that it is the tile's first segment.
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
  /// Adds the totals to the sums of the last segment.
  __device__ void add_to(Sums& sums) const {
#pragma unroll
    for (int e = 0; e < Sums::count; ++e) sums.at(e) = __ldcg(at_.at(e)) + sums.at(e);
  }

 private:
  StoredSums<M> at_;
};

} // namespace tessera::cuda::stream_k
