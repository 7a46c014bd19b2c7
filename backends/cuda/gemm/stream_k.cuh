#pragma once

/// The kernel of stream_k, for a way to multiply M (stream_k.cu in f32, stream_k_f64.cu):
///
///   M::Element, M::block_m, block_n, block_k; M::threads that compute; M::blocks a multiprocessor; M::stages
///   M::cycles a step of k takes a block where multiprocessors are full, M::cycles_alone where it has one to itself
///   M::Stage<a_along, b_along>: tiles a and b; M::transposes: whether they are [k][outer] whatever the operands are
///   M::Place: a thread's; M::Fragment: what it has in registers of the operands; load(stage, place): of the first step
///   M::Sums, M::multiply(sums, fragment, stage, place, next): multiplies a whole stage, the first step of which is in
///   the fragment, and loads the first step of next(), which waits until that stage is there
///   M::store<finishes>(x, row, col, place, sums, totals): with an epilogue or not
///   M::planned: whether those who copy tell the others what is next, and totals are the L2 cache's
///   (stream_k_planned.cuh)

#include <cuda/atomic>

#include "async_loader.cuh"
#include "early_launch.cuh"
#include "grid.cuh"
#include "ring.cuh"
#include "segment_sums.cuh"
#include "stream_k.hpp"

namespace tessera::cuda::stream_k {

constexpr int producers = 128; ///< threads; registers can be moved to the others by whole warpgroups
constexpr int band = 16;       ///< rows of tiles that are walked together, so that their panels meet in the L2 cache

template <class T>
struct Work {
  VectorOperands<T> x;
  Schedule schedule;
  Index tiles_m, tiles_n;
  Index segments;
  T* sums;    ///< [segment][m][n], if there are several
  T* handed;  ///< [block][2][result of a thread][thread]: sums on their way to the next block, and their totals
  int* flags; ///< [block][warp]: 1 once they are there
  T* totals;  ///< [block][result of a thread][thread], where M is planned; chained: [tile]…
  int* added; ///< chained: [tile][warp]: how many segments the totals have

  __device__ Index segment(Index tile) const { return segments == 1 ? 0 : tile / (tiles_m * tiles_n); }
  /// The product that a tile is part of: all of k, or one segment.
  __device__ VectorOperands<T> product(Index tile) const { return product_of(segment(tile)); }
  __device__ VectorOperands<T> product_of(Index segment) const {
    return segments == 1 ? x : segment_of(x, segment, sums);
  }
  __device__ TileOrigin origin(Index tile, int tile_m, int tile_n) const {
    const TilePlace place = banded(tile % (tiles_m * tiles_n), tiles_m, tiles_n, band);
    return {place.row * tile_m, place.col * tile_n};
  }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A part with what takes divisions to find out, from the warps that copy, which are ahead, to the others.
struct Plan {
  Part part; ///< tile −1 after the last
  TileOrigin origin;
  Index segment, place; ///< of k, and the tile's number within it
};

/// Those who copy write at most so many parts ahead, less one, of those who read.
template <int count>
struct Plans {
  Plan plan[count];
  __device__ Plan& operator[](Index index) { return plan[static_cast<unsigned>(index) % count]; }
};
template <>
struct Plans<0> {};

template <int stages, bool planned>
struct Barriers {
  std::uint64_t full[stages], empty[stages];
  [[no_unique_address]] Plans<planned ? stages + 3 : 0> plans;

  __device__ void start(int consumer_warps) {
    for (int s = 0; s < stages; ++s) {
      ::cuda::ptx::mbarrier_init(&full[s], producers + planned);
      ::cuda::ptx::mbarrier_init(&empty[s], static_cast<unsigned>(consumer_warps));
    }
  }
  __device__ static void arrive(std::uint64_t& barrier) { static_cast<void>(::cuda::ptx::mbarrier_arrive(&barrier)); }
  /// When this thread's copies are done.
  __device__ static void arrive_after_copies(std::uint64_t& barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(&barrier)))
                 : "memory");
  }
};

template <class M>
using BarriersOf = Barriers<M::stages, M::planned>;

template <class M, Along a_along, Along b_along, class Stage>
__device__ void produce(const Work<typename M::Element>& work, Stage* stage, BarriersOf<M>& barriers) {
  using T = typename M::Element;
  const int thread = static_cast<int>(threadIdx.x) - M::threads;
  Ring<M::stages> ring;
  Part part;
  Index index = 0;
  for (; work.schedule.part(blockIdx.x, index, part); ++index) {
    const VectorOperands<T> x = work.product(part.tile);
    const TileOrigin origin = work.origin(part.tile, M::block_m, M::block_n);
    if constexpr (M::planned)
      if (thread == 0) {
        const Index segment = work.segment(part.tile);
        barriers.plans[index] = {part, origin, segment, part.tile - segment * work.tiles_m * work.tiles_n};
      }
    Index k0 = part.begin * M::block_k;
    const Index end = part.end * M::block_k;
    AsyncTileLoader<T, M::block_m, M::block_k, producers, a_along, M::transposes && a_along == Along::K> a(
        slice_a(x, a_along, origin.row).from(k0, a_along), thread);
    AsyncTileLoader<T, M::block_n, M::block_k, producers, b_along, M::transposes && b_along == Along::K> b(
        slice_b(x, b_along, origin.col).from(k0, b_along), thread);
    for (; k0 < end; k0 += M::block_k, ring.advance()) {
      wait_together(barriers.empty[ring.stage], ring.phase ^ 1);
      a.copy(k0, stage[ring.stage].a.at);
      b.copy(k0, stage[ring.stage].b.at);
      if (k0 + M::block_k > x.k) { // padding was stored without cp.async
        __pipeline_commit();
        __pipeline_wait_prior(0);
        barriers.arrive(barriers.full[ring.stage]);
      } else {
        barriers.arrive_after_copies(barriers.full[ring.stage]);
      }
      if (M::planned && thread == 0) barriers.arrive(barriers.full[ring.stage]); // the plan is there as well
    }
  }
  // Consumers look one stage ahead, also at the end.
  wait_together(barriers.empty[ring.stage], ring.phase ^ 1);
  if constexpr (M::planned)
    if (thread == 0) {
      barriers.plans[index].part.tile = -1;
      barriers.arrive(barriers.full[ring.stage]);
    }
  barriers.arrive(barriers.full[ring.stage]);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

using Flag = ::cuda::atomic_ref<int, ::cuda::thread_scope_device>;

/// What the warp's threads have written to global memory is there for whoever sees the flag's value.
__device__ inline void raise(int* flag, int value) {
  __threadfence();
  __syncwarp();
  if (threadIdx.x % 32 == 0) Flag(*flag).store(value, ::cuda::std::memory_order_release);
}

/// A thread's sums and totals, for the same thread of the next block.
template <class M>
class Handed {
  using T = typename M::Element;
  static constexpr int count = M::Sums::count;

 public:
  __device__ Handed(const Work<T>& work, Index block)
      : values_(work.handed + block * 2 * count * M::threads + threadIdx.x),
        flag_(work.flags + block * (M::threads / 32) + threadIdx.x / 32) {}

  template <class Sums>
  __device__ void put(Sums& sums, typename Sums::Totals& totals, bool with_totals) {
#pragma unroll
    for (int e = 0; e < count; ++e) __stcg(values_ + e * M::threads, sums.at(e));
    if (with_totals) {
#pragma unroll 8
      for (int e = 0; e < count; ++e) __stcg(values_ + (count + e) * M::threads, totals.data()[e]);
    }
    raise(flag_, 1);
  }
  template <class Sums>
  __device__ void take(Sums& sums, typename Sums::Totals& totals, bool with_totals) {
    while (Flag(*flag_).load(::cuda::std::memory_order_acquire) == 0) __nanosleep(100);
#pragma unroll
    for (int e = 0; e < count; ++e) sums.at(e) = __ldcg(values_ + e * M::threads);
    if (with_totals) {
#pragma unroll 8
      for (int e = 0; e < count; ++e) totals.data()[e] = __ldcg(values_ + (count + e) * M::threads);
    }
  }

 private:
  T* values_;
  int* flag_;
};

/// Multiplies the ring's stage and gives it back; the next one is there then.
template <class M, class Stage>
__device__ void multiply_stage(typename M::Sums& sums, typename M::Fragment& fragment, const Stage* stage,
                               const typename M::Place& place, Ring<M::stages>& ring, BarriersOf<M>& barriers) {
  M::multiply(sums, fragment, stage[ring.stage], place, [&]() -> const Stage& {
    ring.advance();
    wait_together(barriers.full[ring.stage], ring.phase);
    return stage[ring.stage];
  });
  __syncwarp();
  if (threadIdx.x % 32 == 0) barriers.arrive(barriers.empty[ring.previous()]);
}

template <class M, bool finishes, class Stage>
__device__ void consume(const Work<typename M::Element>& work, const Stage* stage, BarriersOf<M>& barriers) {
  constexpr Index segment = canonical_segment / M::block_k;
  static_assert(canonical_segment % M::block_k == 0);
  const typename M::Place place(static_cast<int>(threadIdx.x));
  typename M::Sums::Totals totals(work.x.k);
  typename M::Fragment fragment;
  Ring<M::stages> ring;
  wait_together(barriers.full[0], 0);
  fragment.load(stage[0], place);
  Part part;
  for (Index index = 0; work.schedule.part(blockIdx.x, index, part); ++index) {
    typename M::Sums sums;
    Index step = part.begin;
    if (part.continues) Handed<M>(work, blockIdx.x - 1).take(sums, totals, (step - 1) / segment > 0);
    while (step < part.end) {
      sums.begin(step * M::block_k, totals);
      const Index stop = min(part.end, step / segment * segment + segment);
      const int stages = static_cast<int>(stop - step);
      step = stop;
#pragma unroll 1
      for (int done = 0; done < stages; ++done) multiply_stage<M>(sums, fragment, stage, place, ring, barriers);
    }
    if (part.hands_on) {
      Handed<M>(work, blockIdx.x).put(sums, totals, (step - 1) / segment > 0);
      continue;
    }
    sums.finish(part.end * M::block_k, totals);
    const TileOrigin origin = work.origin(part.tile, M::block_m, M::block_n);
    M::template store<finishes>(work.product(part.tile), origin.row, origin.col, place, sums, totals);
  }
  launch_dependents();
}

#endif

/// Half of a multiprocessor's registers (M::blocks = 2), or all of them, are moved from those who copy to those who
/// compute.
template <class M, bool finishes, Along a_along, Along b_along>
__global__ void __launch_bounds__(M::threads + producers, M::blocks)
    multiply(const __grid_constant__ Work<typename M::Element> work) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(128) float4 shared[]; // a sector that lies in two halves is fetched twice
  auto* const stage = reinterpret_cast<typename M::template Stage<a_along, b_along>*>(shared);
  __shared__ BarriersOf<M> barriers;
  if (threadIdx.x == 0) barriers.start(M::threads / 32);
  __syncthreads();
  if (threadIdx.x >= M::threads) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(M::producer_registers));
    produce<M, a_along, b_along>(work, stage, barriers);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(M::registers));
    if constexpr (M::planned)
      M::template consume<M, finishes>(work, stage, barriers);
    else
      consume<M, finishes>(work, stage, barriers);
  }
#endif
}

} // namespace tessera::cuda::stream_k
