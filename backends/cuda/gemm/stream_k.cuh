#pragma once

/// The kernel of stream_k and its run, for a way to multiply M (stream_k.cu in f32, stream_k_f64.cu):
///
///   M::Element, M::block_m, block_n, block_k; M::threads that compute; M::blocks a multiprocessor; M::stages
///   M::cycles a step of k takes a block where multiprocessors are full, M::cycles_alone where it has one to itself
///   M::Stage<a_along, b_along>: tiles a and b; M::transposes: whether they are [k][outer] whatever the operands are
///   M::Place: a thread's; M::Fragment: what it has in registers of the operands; load(stage, place): of the first step
///   M::Sums, M::multiply(sums, fragment, stage, place, next): multiplies a whole stage, the first step of which is in
///   the fragment, and loads the first step of next(), which waits until that stage is there
///   M::store<finishes>(x, row, col, place, sums, totals): with an epilogue or not

#include <algorithm>
#include <array>

#include <cuda/atomic>

#include <tessera/executor.hpp>

#include "async_loader.cuh"
#include "early_launch.cuh"
#include "grid.cuh"
#include "ring.cuh"
#include "segment_sums.cuh"
#include "stream.hpp"
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
  T* handed;  ///< [block][2][result of a thread][thread]: sums on their way to the next block
  int* flags; ///< [block][warp]: 1 once they are there

  /// The product that a tile is part of: all of k, or one segment.
  __device__ VectorOperands<T> product(Index tile) const {
    return segments == 1 ? x : segment_of(x, tile / (tiles_m * tiles_n), sums);
  }
  __device__ TileOrigin origin(Index tile, int tile_m, int tile_n) const {
    const TilePlace place = banded(tile % (tiles_m * tiles_n), tiles_m, tiles_n, band);
    return {place.row * tile_m, place.col * tile_n};
  }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <int stages>
struct Barriers {
  std::uint64_t full[stages], empty[stages];

  __device__ void start(int consumer_warps) {
    for (int s = 0; s < stages; ++s) {
      ::cuda::ptx::mbarrier_init(&full[s], producers);
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

template <class M, Along a_along, Along b_along, class Stage>
__device__ void produce(const Work<typename M::Element>& work, Stage* stage, Barriers<M::stages>& barriers) {
  using T = typename M::Element;
  const int thread = static_cast<int>(threadIdx.x) - M::threads;
  Ring<M::stages> ring;
  Part part;
  for (Index index = 0; work.schedule.part(blockIdx.x, index, part); ++index) {
    const VectorOperands<T> x = work.product(part.tile);
    const TileOrigin origin = work.origin(part.tile, M::block_m, M::block_n);
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
    }
  }
  // Consumers look one stage ahead, also at the end.
  wait_together(barriers.empty[ring.stage], ring.phase ^ 1);
  barriers.arrive(barriers.full[ring.stage]);
  __pipeline_commit();
  __pipeline_wait_prior(0);
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
    __threadfence();
    __syncwarp();
    if (threadIdx.x % 32 == 0) Flag(*flag_).store(1, ::cuda::std::memory_order_release);
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
  using Flag = ::cuda::atomic_ref<int, ::cuda::thread_scope_device>;
  T* values_;
  int* flag_;
};

template <class M, bool finishes, class Stage>
__device__ void consume(const Work<typename M::Element>& work, const Stage* stage, Barriers<M::stages>& barriers) {
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
      for (int done = 0; done < stages; ++done) {
        M::multiply(sums, fragment, stage[ring.stage], place, [&]() -> const Stage& {
          ring.advance();
          wait_together(barriers.full[ring.stage], ring.phase);
          return stage[ring.stage];
        });
        __syncwarp();
        if (threadIdx.x % 32 == 0) barriers.arrive(barriers.empty[ring.previous()]);
      }
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
  __shared__ Barriers<M::stages> barriers;
  if (threadIdx.x == 0) barriers.start(M::threads / 32);
  __syncthreads();
  if (threadIdx.x >= M::threads) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(M::producer_registers));
    produce<M, a_along, b_along>(work, stage, barriers);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(M::registers));
    consume<M, finishes>(work, stage, barriers);
  }
#endif
}

inline const char* reject(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept {
  return machine.compute_major == 9
             ? nullptr
             : "its producer warps need compute capability 9.0 (Hopper); use async_copy, or no kernel's name";
}

template <class M>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call, Index segments) noexcept {
  using T = typename M::Element;
  const cudaStream_t stream = stream_of(queue);
  const VectorOperands<T> x(call);
  const Index tiles_m = ceil_div<Index>(x.m, M::block_m);
  const Index tiles_n = ceil_div<Index>(x.n, M::block_n);
  const Index slots = Index{M::blocks} * executor.capabilities().multiprocessors;
  const Index length = segments == 1 ? x.k : canonical_segment;
  const Index last = x.k - (segments - 1) * length;
  constexpr Index k = M::block_k;
  const Schedule schedule(tiles_m * tiles_n, segments, ceil_div(length, k), ceil_div(last, k), slots, 256 / k);

  ScratchLayout layout;
  const std::size_t sums = layout.add(segments > 1 ? segments * x.m * x.n * sizeof(T) : 0);
  const std::size_t handed =
      layout.add(schedule.cuts() ? schedule.blocks() * 2 * M::Sums::count * M::threads * sizeof(T) : 0);
  const std::size_t flag_bytes = static_cast<std::size_t>(schedule.blocks()) * (M::threads / 32) * sizeof(int);
  const std::size_t flags = layout.add(schedule.cuts() ? flag_bytes : 0);
  Scratch scratch;
  if (layout.size() > 0)
    if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
  char* const memory = scratch.as<char>(); // nullptr, if nothing is needed
  if (schedule.cuts())
    if (Status status = check(cudaMemsetAsync(memory + flags, 0, flag_bytes, stream), "clearing flags"); !status.ok())
      return status;
  const Work<T> work{x,
                     schedule,
                     tiles_m,
                     tiles_n,
                     segments,
                     reinterpret_cast<T*>(memory + sums),
                     reinterpret_cast<T*>(memory + handed),
                     reinterpret_cast<int*>(memory + flags)};
  const Status status = with_layouts(call, [&](auto a, auto b) -> Status {
    const auto kernel =
        x.finish.wanted && segments == 1 ? multiply<M, true, a.value, b.value> : multiply<M, false, a.value, b.value>;
    constexpr std::size_t bytes = M::stages * sizeof(typename M::template Stage<a.value, b.value>);
    if (Status allowed = allow_shared(kernel, bytes, name); !allowed.ok()) return allowed;
    kernel<<<static_cast<unsigned>(schedule.blocks()), M::threads + producers, bytes, stream>>>(work);
    return launched(name);
  });
  if (!status.ok() || segments == 1) return status;
  return launch_add_segments<T>(stream, {.sums = work.sums, .segments = segments, .finish = x.finish}, name);
}

/// Clock cycles that a product takes, about, to compare tiles and cuts.
template <class M>
Index cost(const GemmCall& call, Index segments, Index multiprocessors) {
  const Index tiles = ceil_div<Index>(call.m, M::block_m) * ceil_div<Index>(call.n, M::block_n);
  const Index length = segments == 1 ? call.k : canonical_segment;
  // A tile's chains take their time, whoever computes them.
  const Index steps = std::max(length, ceil_div(tiles * call.k, M::blocks * multiprocessors));
  const Index adding = segments == 1 ? 0 : 6000 + (segments + 1) * call.m * call.n * sizeof(typename M::Element) / 2000;
  return steps * (tiles * segments > multiprocessors ? M::cycles : M::cycles_alone) + adding;
}

/// The best of several sizes of tiles, and k cut at the segments or not.
template <class... Sizes>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  struct Choice {
    Index cost, segments;
    Status (*run)(const char*, Executor&, Queue&, const GemmCall&, Index);
  };
  const Index multiprocessors = executor.capabilities().multiprocessors;
  const Index all = ceil_div(call.k, canonical_segment);
  const std::array choices{Choice{cost<Sizes>(call, 1, multiprocessors), 1, run<Sizes>}...,
                           Choice{cost<Sizes>(call, all, multiprocessors), all, run<Sizes>}...};
  const auto cheaper = [](const Choice& one, const Choice& other) { return one.cost < other.cost; };
  const Choice& best = *std::min_element(choices.begin(), choices.end(), cheaper);
  return best.run(name, executor, queue, call, best.segments);
}

} // namespace tessera::cuda::stream_k
