#pragma once

/// Says which results a cluster, a block and a thread compute, and where the results go.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/emulated_fp16x3/chunk_scales.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/stores/prefetch_lines.cuh"
#include "cuda/gemm/common/unfit_lines.cuh"
#include "cuda/gemm/common/wgmma_pipeline.cuh"
#include "split_operands.cuh"

namespace tessera::cuda::wgmma {

/// Rows of clusters' tiles that the raster order walks together, so that they share operands in the L2 cache.
constexpr int raster_height = 8;

struct PackedProduct {
  const char *a, *b; ///< split and packed
  Index m, n;
  int blocks;           ///< blocks of k
  int segment_blocks;   ///< blocks of a segment; slices are cut between segments
  int tiles_m, tiles_n; ///< numbers of tiles; a tile here belongs to a cluster
  SegmentSlices cut;    ///< segments and slices of k
  float* sums;          ///< [plane][m][n], if there are several slices
  ScaledResult<float> to;
  bool c_pairs; ///< C can be written two columns at once
  EpilogueStore<float> epilogue;
  UnfitLines unfit; ///< results in marked rows and columns are not stored in C
};

/// A cluster's unit of work: one tile's slice of k.
struct WorkTile {
  int tile_row, tile_col, slice;
  int begin, end; ///< blocks of k

  __device__ WorkTile(const PackedProduct& x, int index) {
    const int tiles = x.tiles_m * x.tiles_n;
    slice = index / tiles;
    const TilePlace tile = raster_place(index % tiles, x.tiles_m, x.tiles_n, raster_height);
    tile_row = static_cast<int>(tile.row);
    tile_col = static_cast<int>(tile.col);
    begin = static_cast<int>(x.cut.first(slice)) * x.segment_blocks;
    end = min(x.blocks, static_cast<int>(x.cut.first(slice + 1)) * x.segment_blocks);
  }
};

/// Where a thread's results of a tile go. Of a warp's 16 rows a lane has row lane / 4 and the row 8 below it, and two
/// columns of every 8: result e is in row e / 2 % 2 and column e / 4 · 8 + e % 2.
template <class S>
struct Destination {
  Index i, j;     ///< place of the first result in C
  bool inside[2]; ///< which of the two rows exist
  int columns;    ///< columns that exist from j on
  float* row[2];
  bool pairs;        ///< results can be written two columns at once
  float alpha, beta; ///< 1 and 0 for the sums of a slice or segment

  __device__ Destination(const PackedProduct& x, const WorkTile& work, unsigned rank, Index plane) {
    const int thread = static_cast<int>(threadIdx.x) - 128;
    const int lane = thread % 32;
    i = (static_cast<Index>(work.tile_row) * cluster + rank) * tile_m + thread / 32 * 16 + lane / 4;
    j = static_cast<Index>(work.tile_col) * S::tile_n + lane % 4 * 2;
    inside[0] = i < x.m;
    inside[1] = i + 8 < x.m;
    columns = static_cast<int>(min(x.n - j, Index{S::tile_n}));
    const bool sliced = x.cut.slices > 1;
    const Index ld = sliced ? x.n : x.to.ldc;
    row[0] = (sliced ? x.sums + plane * x.m * x.n : x.to.c) + i * ld + j;
    row[1] = row[0] + 8 * ld;
    pairs = sliced ? x.n % 2 == 0 : x.c_pairs;
    alpha = sliced ? 1 : x.to.alpha;
    beta = sliced ? 0 : x.to.beta;
  }
};

template <class S>
__device__ void store(const PackedProduct& x, const Destination<S>& to, const float (&result)[S::tile_n / 2]) {
  const bool into_c = x.cut.slices == 1, masked = into_c && x.unfit.found();
  if ((x.epilogue.wanted && into_c) || masked) [[unlikely]] {
    float held[S::tile_n / 2]; // in local memory, because the loop is not unrolled
#pragma unroll
    for (int e = 0; e < S::tile_n / 2; ++e) held[e] = result[e];
    if (masked) {
#pragma unroll 1
      for (int e = 0; e < S::tile_n / 2; ++e)
        x.unfit.store_if_fit(x.epilogue, to.i + e / 2 % 2 * 8, to.j + e / 4 * 8 + e % 2, held[e]);
      return;
    }
#pragma unroll 1
    for (int e = 0; e < S::tile_n / 2 && e * 2 < to.columns; e += 8) {
      float sum[4][2];
#pragma unroll
      for (int v = 0; v < 8; ++v) sum[v / 2][v % 2] = held[e + v];
      x.epilogue.store([&](int v) -> ResultPlace { return {to.i + v % 2 * 8, to.j + e * 2 + v / 2 * 8}; }, sum);
    }
    return;
  }
  const bool pairs = to.pairs && to.columns % 2 == 0;
  if (pairs && to.beta == 0) {
#pragma unroll
    for (int e = 0; e < S::tile_n / 2; e += 2)
      if (to.inside[e / 2 % 2] && e / 4 * 8 < to.columns)
        *reinterpret_cast<float2*>(to.row[e / 2 % 2] + e / 4 * 8) =
            float2{to.alpha * result[e], to.alpha * result[e + 1]};
    return;
  }
  // C as it was is read some results at a time: a read after a store would wait until that one's place is known.
  constexpr int at_once = 16;
#pragma unroll
  for (int first = 0; first < S::tile_n / 2; first += at_once) {
    float old[at_once]{};
    if (to.beta != 0) {
#pragma unroll
      for (int e = first; e < first + at_once; e += 2) {
        const float* const from = to.row[e / 2 % 2] + e / 4 * 8;
        const int left = to.inside[e / 2 % 2] ? to.columns - e / 4 * 8 : 0;
        if (pairs && left > 0) {
          const float2 two = *reinterpret_cast<const float2*>(from);
          old[e - first] = two.x;
          old[e - first + 1] = two.y;
        } else {
          if (left > 0) old[e - first] = from[0];
          if (left > 1) old[e - first + 1] = from[1];
        }
      }
    }
#pragma unroll
    for (int e = first; e < first + at_once; e += 2) {
      float* const c = to.row[e / 2 % 2] + e / 4 * 8;
      const int left = to.inside[e / 2 % 2] ? to.columns - e / 4 * 8 : 0;
      float2 r{to.alpha * result[e], to.alpha * result[e + 1]};
      if (to.beta != 0) r = float2{fused(to.beta, old[e - first], r.x), fused(to.beta, old[e - first + 1], r.y)};
      if (pairs && left > 0) {
        *reinterpret_cast<float2*>(c) = r;
      } else {
        if (left > 0) c[0] = r.x;
        if (left > 1) c[1] = r.y;
      }
    }
  }
}

/// Asks the L2 cache for a tile of C: beta needs it, and results that are stored one by one fill parts of sectors, the
/// rest of which would come from memory then. The consumer's warps ask for 16 rows each before they multiply.
template <class S>
__device__ void fetch_old_results(const PackedProduct& x, const WorkTile& work, unsigned rank) {
  if (x.cut.slices > 1 || (x.to.beta == 0 && x.c_pairs)) return;
  const int thread = static_cast<int>(threadIdx.x) - 128;
  const Index i = (static_cast<Index>(work.tile_row) * cluster + rank) * tile_m + thread / 32 * 16;
  const Index j = static_cast<Index>(work.tile_col) * S::tile_n;
  const int rows = static_cast<int>(min(x.m - i, Index{16}));
  const int columns = static_cast<int>(min(x.n - j, Index{S::tile_n}));
  prefetch_lines(x.to.c + i * x.to.ldc + j, x.to.ldc * Index{sizeof(float)}, rows,
                 columns * static_cast<int>(sizeof(float)), thread % 32, 32);
}

} // namespace tessera::cuda::wgmma
