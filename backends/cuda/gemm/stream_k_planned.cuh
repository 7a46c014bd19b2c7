#pragma once

/// The warps of stream_k that compute, where the others plan for them and the L2 cache adds up the totals of segments.
///
/// A part is found with some ten divisions, a thousand cycles in which nobody would compute; so the warps that copy
/// leave it in shared memory, behind the barrier of its first stage. At the end of a segment its sums go to the L2
/// cache, which adds them to the totals there: nobody waits. One thread adds to a total, one segment after the other,
/// each with one rounding, so that the order and the bits are the canonical ones. In f64 alone: f32's subnormals are
/// flushed there.

#include "stream_k.cuh"

namespace tessera::cuda::stream_k {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// One thread's sums, or totals, in global memory.
template <class M>
class Parcel {
  static constexpr int count = M::Sums::count;
  using Sums = typename M::Sums;

 public:
  __device__ explicit Parcel(double* of_block) : at_(of_block + threadIdx.x) {}
  static constexpr Index size = Index{count} * M::threads;

  __device__ void put(const Sums& sums) {
#pragma unroll
    for (int e = 0; e < count; ++e) __stcg(at_ + e * M::threads, sums.at(e));
  }
  __device__ void take(Sums& sums) const {
#pragma unroll
    for (int e = 0; e < count; ++e) sums.at(e) = __ldcg(at_ + e * M::threads);
  }
  /// Here, without an answer.
  __device__ void add(const Sums& sums) {
#pragma unroll
    for (int e = 0; e < count; ++e)
      asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(at_ + e * M::threads), "d"(sums.at(e)) : "memory");
  }
  /// There.
  __device__ void add_to(Sums& sums) const {
#pragma unroll
    for (int e = 0; e < count; ++e) sums.at(e) = __ldcg(at_ + e * M::threads) + sums.at(e);
  }

 private:
  double* at_;
};

/// What a block hands on to the next one: sums, and totals, which stay where they are and are added to by both.
template <class M>
class Passed {
 public:
  __device__ Passed(const Work<double>& work, Index block)
      : sums(work.handed + block * 2 * Parcel<M>::size),
        totals(work.handed + (block * 2 + 1) * Parcel<M>::size),
        flag_(work.flags + block * (M::threads / 32) + threadIdx.x / 32) {}

  __device__ void announce() {
    wait_for_kernel_before(); // the flags are 0
    raise(flag_, 1);
  }
  __device__ void wait() {
    wait_for_kernel_before();
    while (Flag(*flag_).load(::cuda::std::memory_order_acquire) == 0) __nanosleep(100);
  }

  Parcel<M> sums, totals;

 private:
  int* flag_;
};

/// Totals of a tile whose segments are added in order by the blocks that have them.
template <class M>
class Chain {
 public:
  __device__ Chain(const Work<double>& work, Index tile)
      : totals_(work.totals + tile * Parcel<M>::size),
        added_(work.added + tile * (M::threads / 32) + threadIdx.x / 32) {}

  __device__ void add_before(typename M::Sums& sums, int segment) {
    wait_for_kernel_before(); // the flags are 0
    if (segment == 0) return;
    while (Flag(*added_).load(::cuda::std::memory_order_acquire) < segment) __nanosleep(100);
    totals_.add_to(sums);
  }
  __device__ void pass_on(const typename M::Sums& sums, int segment) {
    totals_.put(sums);
    raise(added_, segment + 1);
  }

 private:
  Parcel<M> totals_;
  int* added_;
};

template <class M, bool finishes, class Stage>
__device__ void consume_planned(const Work<double>& work, const Stage* stage, BarriersOf<M>& barriers) {
  constexpr int segment = canonical_segment / M::block_k;
  static_assert(canonical_segment % M::block_k == 0);
  const typename M::Place place(static_cast<int>(threadIdx.x));
  typename M::Fragment fragment;
  Ring<M::stages> ring;
  wait_together(barriers.full[0], 0);
  fragment.load(stage[0], place);
  for (int index = 0;; ++index) {
    const Plan& plan = barriers.plans[index]; // read where it is: registers are few
    const Part& part = plan.part;
    if (part.tile < 0) break;
    typename M::Sums sums;
    int step = static_cast<int>(part.begin);
    const int end = static_cast<int>(part.end);
    Parcel<M> totals(work.totals + blockIdx.x * Parcel<M>::size);
    if (part.continues) {
      Passed<M> before(work, blockIdx.x - 1);
      before.wait();
      before.sums.take(sums);
      totals = before.totals;
    }
    if (part.hands_on) totals = Passed<M>(work, blockIdx.x).totals; // both: no totals, for k is cut at the segments
    while (step < end) {
      if (step > 0 && step % segment == 0) {
        if (step == segment)
          totals.put(sums);
        else
          totals.add(sums);
        sums = {};
      }
      const int stop = min(end, step / segment * segment + segment);
#pragma unroll 1
      for (; step < stop; ++step) multiply_stage<M>(sums, fragment, stage, place, ring, barriers);
    }
    if (part.hands_on) {
      Passed<M> after(work, blockIdx.x);
      after.sums.put(sums);
      after.announce();
      continue;
    }
    if (work.added != nullptr) {
      const int at = static_cast<int>(plan.segment);
      Chain<M> chain(work, plan.place);
      chain.add_before(sums, at);
      if (at + 1 < work.segments) {
        chain.pass_on(sums, at);
        fragment.load(stage[ring.stage], place);
        continue;
      }
    } else if (step > segment) {
      totals.add_to(sums);
    }
    typename M::Sums::Totals held(work.x.k);
    M::template store<finishes>(work.added != nullptr ? work.x : work.product_of(plan.segment), plan.origin.row,
                                plan.origin.col, place, sums, held);
    fragment.load(stage[ring.stage], place); // again: till here its registers were free for totals and addresses
  }
  launch_dependents();
}

#endif

} // namespace tessera::cuda::stream_k
