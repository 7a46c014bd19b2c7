#pragma once

/// What a block does with the ring: producer warps copy panels of both operands, consumer warps multiply them, and the
/// blocks of a cluster, which have a segment of k each, send their sums to the first one.
///
/// A `Tile` says how a block is made up: the tile's `m` and `n`, `consumers` and `producers` (threads), `threads` in
/// all, `copiers`, the threads that copy a stage (producers take turns where they are more), `realigners`, those
/// that do in produce_realigned(), `panels` of a stage, `most_stages`, and `sum_bytes` of a tile.

#include <cstring>

#include "barriers.cuh"
#include "copies.cuh"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/cluster_send.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/raster_order.hpp"
#include "realigning_copies.cuh"

namespace tessera::cuda::panel_ring {

/// The operands of a product, and how blocks share it out.
struct Shares {
  Index k;
  Index segment;   ///< k of each segment but the last one
  int parts;       ///< blocks of a cluster, one for each segment; 1: a block has all segments
  int stages = 0;  ///< of the ring; launch() sets it
  int sums_at = 0; ///< where the sums of other parts lie in shared memory, after the ring; launch() sets it
  StoredLines a, b;
  RasterOrder order{1, 1, 1}; ///< of tiles; launch() sets it
};

/// What a block has to compute: the first row and column of its tile, and the k from `begin` on.
struct Work {
  Index row, column, begin, k;
};

#if __CUDA_ARCH__ >= 800

/// Copies the stages of both operands, whose panels have the layouts A and B. In a stage, each panel of A is followed
/// by the panel of B, `a_bytes` further; `bytes` are both.
template <class Tile, class A, class B, int a_bytes, int bytes>
__device__ void produce(const Shares& x, const Work& work, unsigned shared, Barriers<Tile::most_stages> barriers) {
  constexpr int groups = Tile::producers / Tile::copiers;
  const int thread = static_cast<int>(threadIdx.x) - Tile::consumers;
  const int group = thread / Tile::copiers, of_group = thread % Tile::copiers;
  const Index begin = work.begin + group * Tile::panels * A::depth;
  PanelCopies<A, Tile::copiers> a(x.a, work.row, begin, of_group);
  PanelCopies<B, Tile::copiers> b(x.b, work.column, begin, of_group);
  Ring<Tile::most_stages> ring{group};
  const auto advance = [&] {
#pragma unroll
    for (int g = 0; g < groups; ++g) ring.advance(x.stages);
  };
  wait_for_kernel_before();
  const auto panels = static_cast<int>(ceil_div<Index>(work.k, A::depth));
#pragma unroll 1
  for (int left = panels - group * Tile::panels; left > 0; left -= groups * Tile::panels, advance()) {
    barriers.wait_until_empty(ring);
    const unsigned to = shared + ring.stage * Tile::panels * bytes;
#pragma unroll
    for (int panel = 0; panel < Tile::panels; ++panel) {
      if (panel > 0 && panel >= left) break; // k has ended
      a.start(to + panel * bytes);
      b.start(to + panel * bytes + a_bytes);
      a.advance(1);
      b.advance(1);
    }
    a.advance((groups - 1) * Tile::panels);
    b.advance((groups - 1) * Tile::panels);
    barriers.fill_by_copies(ring);
  }
}

/// Copies the stages of both operands like produce(), where lines begin anywhere in memory. A stage is read while the
/// consumer warps still have the one before it.
template <class Tile, class A, class B, int a_bytes, int bytes>
__device__ void produce_realigned(const Shares& x, const Work& work, unsigned shared,
                                  Barriers<Tile::most_stages> barriers) {
  constexpr int groups = Tile::producers / Tile::realigners, panels = Tile::panels;
  const int thread = static_cast<int>(threadIdx.x) - Tile::consumers;
  const int group = thread / Tile::realigners, of_group = thread % Tile::realigners;
  const Index begin = work.begin + group * panels * A::depth;
  RealigningCopies<A, panels, Tile::realigners> a(x.a, work.row, begin, of_group);
  RealigningCopies<B, panels, Tile::realigners> b(x.b, work.column, begin, of_group);
  Ring<Tile::most_stages> ring{group};
  int left = static_cast<int>(ceil_div<Index>(work.k, A::depth)) - group * panels;
  wait_for_kernel_before();
  if (left > 0) {
    a.fetch();
    b.fetch();
  }
#pragma unroll 1
  while (left > 0) {
    barriers.wait_until_empty(ring);
    const unsigned to = shared + ring.stage * panels * bytes;
    a.store(to, bytes);
    b.store(to + a_bytes, bytes);
    barriers.fill(ring.stage, thread % 32);
    left -= groups * panels;
    if (left <= 0) break;
#pragma unroll
    for (int g = 0; g < groups; ++g) ring.advance(x.stages);
    a.advance(groups * panels);
    b.advance(groups * panels);
    a.fetch();
    b.fetch();
  }
}

/// Returns where the calling thread's vector of sums lies, among the sums of a block.
template <class Tile, class Vector>
__device__ int offset_of(const Vector&, int vector) {
  return (vector * Tile::consumers + static_cast<int>(threadIdx.x)) * static_cast<int>(sizeof(Vector));
}

/// Adds up the sums of a cluster's blocks in ascending order of k, in the first block. Returns false in the others.
/// `received` is memory of the first block. `sums.each_vector(f)` calls f for each vector of a lane's sums, an array of
/// 4, 8 or 16 bytes, with its number.
template <class Tile, class Sums>
__device__ bool add_parts(int parts, int part, Sums& sums, char* received, [[maybe_unused]] void* arrivals) {
#if __CUDA_ARCH__ >= 900
  auto& counted = *static_cast<Arrivals*>(arrivals);
  if (part > 0) {
    const unsigned barrier = place_in(0, &counted.barrier);
    sums.each_vector([&](const auto& x, int vector) {
      send(place_in(0, received + (part - 1) * Tile::sum_bytes + offset_of<Tile>(x, vector)), x, barrier);
    });
    return false;
  }
  counted.wait();
  for (int p = 1; p < parts; ++p)
    sums.each_vector([&](auto& x, int vector) {
      std::remove_reference_t<decltype(x)> more;
      std::memcpy(&more, received + (p - 1) * Tile::sum_bytes + offset_of<Tile>(x, vector), sizeof(more));
#pragma unroll
      for (unsigned e = 0; e < sizeof(x) / sizeof(x[0]); ++e) x[e] = x[e] + more[e];
    });
#endif
  return true;
}

/// Runs a block. `fills`: the arrivals that make a stage full. Producers call produce(work, shared, barriers);
/// consumers call consume(work, shared, barriers, total), which adds the sums of all their segments to `total`, and,
/// where their block has the tile's sums, store(work, total). `shared` is the block's dynamic memory.
template <class Tile, class Sums, class Produce, class Consume, class Store>
__device__ void run_block(const Shares& x, char* shared, int fills, Produce produce, Consume consume, Store store) {
  __shared__ typename Barriers<Tile::most_stages>::Memory of_barriers;
  const auto parts = static_cast<unsigned>(x.parts), part = blockIdx.x % parts;
#if __CUDA_ARCH__ >= 900
  __shared__ Arrivals arrivals;
  if (parts > 1) {
    if (part == 0 && threadIdx.x == 0) arrivals.start((x.parts - 1) * Tile::sum_bytes);
    ::cuda::ptx::barrier_cluster_arrive(::cuda::ptx::sem_relaxed);
  }
  // The first block counts arrivals before another block sends.
  const auto wait_for_cluster = [&] {
    if (parts > 1) ::cuda::ptx::barrier_cluster_wait();
  };
#else
  char arrivals;
  const auto wait_for_cluster = [] {};
#endif
  const Barriers<Tile::most_stages> barriers(of_barriers);
  if (threadIdx.x == 0) Barriers<Tile::most_stages>::start(of_barriers, fills, Tile::consumers / 32);
  const TilePlace tile = x.order.place(blockIdx.x / parts);
  const Index begin = part * x.segment, left = x.k - begin;
  const Work work{tile.row * Tile::m, tile.col * Tile::n, begin, parts > 1 && x.segment < left ? x.segment : left};
  const unsigned address = address_of(shared);
  launch_dependents();
  __syncthreads(); // the barriers are there
  if (threadIdx.x >= Tile::consumers) {
    produce(work, address, barriers);
    wait_for_cluster();
    return;
  }
  Sums total;
  total.set(-0.0f); // to which the first segment is added without a change
  wait_for_kernel_before();
  consume(work, address, barriers, total);
  wait_for_cluster();
  if (parts > 1 && !add_parts<Tile>(x.parts, static_cast<int>(part), total, shared + x.sums_at, &arrivals)) return;
  store(work, total);
}

#endif

} // namespace tessera::cuda::panel_ring
