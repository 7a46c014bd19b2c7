#pragma once

/// Computes one tile of C by cp.async, through several stages of shared memory: for async_copy, for segmented (over one
/// segment of k) and for batches.

#include "async_loader.cuh"
#include "grid.cuh"
#include "warp_tile.cuh"

namespace tessera::cuda::async_tiling {

template <class T>
using Tiles = warp_tiling::Wide<T>;

constexpr int block_k = 8;
/// The number of stages that fit into the 48 KiB of shared memory that need no opt-in.
template <class T>
constexpr int stages_of = sizeof(T) == 4 ? 4 : 3;

/// The stages of a block in shared memory, for tiles of shape S.
template <class S, int stages>
struct Stages {
  alignas(16) typename S::Element a[stages][block_k][S::a_ld];
  alignas(16) typename S::Element b[stages][block_k][S::b_ld];
};

/// Computes the tile of C at `origin`, and calls store(row, column, sums, totals) with the place of the thread's first
/// result. All S::threads threads of the block call it.
template <class S, int stages, Along a_along, Along b_along, class Store>
__device__ void multiply_tile_at(const VectorOperands<typename S::Element>& x, const TileOrigin& origin,
                                 Stages<S, stages>& shared, Store store) {
  using T = typename S::Element;
  auto& a_tile = shared.a;
  auto& b_tile = shared.b;
  const int thread = static_cast<int>(threadIdx.x);
  const warp_tiling::Position<S> at(thread);
  AsyncTileLoader<T, S::block_m, block_k, S::threads, a_along> a(slice_a(x, a_along, origin.row), thread);
  AsyncTileLoader<T, S::block_n, block_k, S::threads, b_along> b(slice_b(x, b_along, origin.col), thread);
  warp_tiling::Sums<S> sums;
  typename decltype(sums)::Totals totals(x.k);
  warp_tiling::Fragments<S> fragments[2];

  // A commit without copies keeps the number of stages in flight constant until the end.
  const auto start = [&](Index k0, int stage) {
    if (k0 < x.k) {
      a.copy(k0, a_tile[stage]);
      b.copy(k0, b_tile[stage]);
    }
    __pipeline_commit();
  };
#pragma unroll
  for (int stage = 0; stage + 1 < stages; ++stage) start(stage * block_k, stage);
  __pipeline_wait_prior(stages - 2);
  __syncthreads();
  fragments[0].load(&a_tile[0][0][at.row], &b_tile[0][0][at.col]);
  int current = 0;
  int free = stages - 1; // the threads that read it last have passed the barrier
  for (Index k0 = 0; k0 < x.k; k0 += block_k) {
    start(k0 + (stages - 1) * block_k, free);
    free = current;
    sums.begin(k0, totals);
#pragma unroll
    for (int p = 0; p < block_k; ++p) {
      if (p + 1 < block_k) {
        fragments[(p + 1) % 2].load(&a_tile[current][p + 1][at.row], &b_tile[current][p + 1][at.col]);
      } else {
        __pipeline_wait_prior(stages - 2);
        __syncthreads();
        current = current + 1 == stages ? 0 : current + 1;
        fragments[0].load(&a_tile[current][0][at.row], &b_tile[current][0][at.col]);
      }
      sums.extend(fragments[p % 2].a, fragments[p % 2].b);
    }
  }
  sums.finish(x.k, totals);
  store(origin.row + at.row, origin.col + at.col, sums, totals);
}
template <class S, int stages, Along a_along, Along b_along>
__device__ void multiply_tile_at(const VectorOperands<typename S::Element>& x, const TileOrigin& origin,
                                 Stages<S, stages>& shared) {
  multiply_tile_at<S, stages, a_along, b_along>(
      x, origin, shared,
      [&](Index row, Index col, const auto& sums, auto& totals) { warp_tiling::store<S>(x, row, col, sums, totals); });
}

/// Computes the block's tile of C.
template <class T, Along a_along, Along b_along>
__device__ void multiply_tile(const VectorOperands<T>& x) {
  using S = Tiles<T>;
  __shared__ Stages<S, stages_of<T>> shared;
  multiply_tile_at<S, stages_of<T>, a_along, b_along>(x, tile_origin(x, S::block_m, S::block_n), shared);
}

} // namespace tessera::cuda::async_tiling
