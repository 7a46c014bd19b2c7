#pragma once

/// Sums on their way from a block of stream_k to the next one, and the totals of finished segments of k: a thread's own
/// in local memory, or the L2 cache's, which adds sums to them (M::cached_totals).
///
/// There nobody waits. One thread adds to a total, one segment after the other, each with one rounding, so that the
/// order and the bits are the canonical ones. In f64 alone: f32's subnormals are flushed there.

#include <cuda/atomic>

#include "early_launch.cuh"
#include "stream_k_work.cuh"

namespace tessera::cuda::stream_k {

using Flag = ::cuda::atomic_ref<int, ::cuda::thread_scope_device>;

/// One thread's sums, or totals, in global memory.
template <class M>
class Parcel {
  using T = typename M::Element;
  using Sums = typename M::Sums;

 public:
  static constexpr Index size = Index{Sums::count} * M::threads; ///< of a block's

  __device__ explicit Parcel(T* of_block) : first_(of_block + threadIdx.x) {}

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
class Passed {
  using T = typename M::Element;

 public:
  __device__ Passed(const Work<T>& work, Index block)
      : totals(work.handed + (block * 2 + 1) * Parcel<M>::size),
        sums_(work.handed + block * 2 * Parcel<M>::size),
        flag_(work.flags + block * (M::threads / 32) + threadIdx.x / 32) {}

  /// What the warp's threads have written to global memory before is there then, too.
  __device__ void put(const typename M::Sums& sums) const {
    sums_.put(sums);
    wait_for_kernel_before(); // the flags are 0
    __threadfence();
    __syncwarp();
    if (threadIdx.x % 32 == 0) Flag(*flag_).store(1, ::cuda::std::memory_order_release);
  }
  __device__ void take(typename M::Sums& sums) const {
    wait_for_kernel_before();
    while (Flag(*flag_).load(::cuda::std::memory_order_acquire) == 0) __nanosleep(100);
    sums_.take(sums);
  }

  const Parcel<M> totals;

 private:
  const Parcel<M> sums_;
  int* flag_;
};

/// In local memory; handed on beside the sums.
template <class M>
class LocalTotals {
  using T = typename M::Element;
  using Sums = typename M::Sums;

 public:
  __device__ explicit LocalTotals(const Work<T>& work) : local_(work.x.k) {}

  /// `any`: the block before has finished a segment of the part's tile.
  __device__ void open(const Work<T>& work, const Part& part, bool any) {
    if (!part.continues || !any) return;
    const Passed<M> before(work, blockIdx.x - 1);
#pragma unroll 8
    for (int e = 0; e < Sums::count; ++e) local_.data()[e] = __ldcg(before.totals.at(e));
  }
  __device__ void add(Sums& sums, bool first) {
    if (!first) add_to(sums);
    held_in(local_, sums);
  }
  __device__ void add_to(Sums& sums) {
    const T* const total = local_.data();
#pragma unroll
    for (int e = 0; e < Sums::count; ++e) sums.at(e) = total[e] + sums.at(e);
  }
  __device__ void hand_on(const Work<T>& work, bool any) {
    if (!any) return;
    const Passed<M> after(work, blockIdx.x);
#pragma unroll 8
    for (int e = 0; e < Sums::count; ++e) __stcg(after.totals.at(e), local_.data()[e]);
  }
  __device__ typename Sums::Totals& local(const Work<T>&) { return local_; }

 private:
  typename Sums::Totals local_;
};

/// In global memory, where the block after adds to them as well.
template <class M>
class CachedTotals {
  using Sums = typename M::Sums;

 public:
  __device__ explicit CachedTotals(const Work<double>& work) : at_(work.totals) {}

  /// A part that does both has none: it is shorter than a segment.
  __device__ void open(const Work<double>& work, const Part& part, bool) {
    at_ = part.hands_on    ? Passed<M>(work, blockIdx.x).totals
          : part.continues ? Passed<M>(work, blockIdx.x - 1).totals
                           : Parcel<M>(work.totals + blockIdx.x * Parcel<M>::size);
  }
  __device__ void add(const Sums& sums, bool first) {
    if (first) return at_.put(sums);
#pragma unroll
    for (int e = 0; e < Sums::count; ++e)
      asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(at_.at(e)), "d"(sums.at(e)) : "memory");
  }
  __device__ void add_to(Sums& sums) const {
#pragma unroll
    for (int e = 0; e < Sums::count; ++e) sums.at(e) = __ldcg(at_.at(e)) + sums.at(e);
  }
  __device__ void hand_on(const Work<double>&, bool) const {}
  __device__ typename Sums::Totals local(const Work<double>& work) { return typename Sums::Totals(work.x.k); }

 private:
  Parcel<M> at_;
};

template <class M>
using Totals = std::conditional_t<M::cached_totals, CachedTotals<M>, LocalTotals<M>>;

} // namespace tessera::cuda::stream_k
