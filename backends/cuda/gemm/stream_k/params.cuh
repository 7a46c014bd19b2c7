#pragma once

/// The parameters of a stream_k kernel, and where its tiles lie.

#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/raster_order.hpp"
#include "cuda/gemm/common/segment_sums.cuh"
#include "schedule.hpp"

namespace tessera::cuda::stream_k {

/// Threads of the producer warps: a whole warpgroup, because registers are moved between warpgroups.
constexpr int producers = 128;
/// Rows of tiles that the raster order walks together, so that they share operands in the L2 cache.
constexpr int raster_height = 16;

template <class T>
struct Params {
  VectorOperands<T> x;
  Schedule schedule;
  RasterOrder raster; ///< place of a tile in its segment; each segment is a layer
  Index segments;     ///< segments that k is cut into; 1: it is not cut
  T* sums;            ///< [segment][m][n], if there are several segments
  /// [block][2][result of a thread][thread]: sums handed on to the next block, and the totals of the segments before.
  T* hand_offs;
  /// [block][warp]: 1 while the hand-off is there. In a chain, [tile][warp]: number of segments that are added.
  int* flags;
  /// Totals of finished segments, [block][result of a thread][thread]; in a chain, [tile][result of a thread][thread].
  T* totals;
  int* drawn_items; ///< in a chain: number of items that blocks have drawn

  /// Returns the product that the tiles of `segment` belong to: all of k, or the one segment.
  __device__ VectorOperands<T> product_of(Index segment) const {
    return segments == 1 ? x : segment_of(x, segment, sums);
  }
  /// Returns the first row and column of a tile, which is counted within its segment.
  __device__ TileOrigin origin(Index tile, int tile_m, int tile_n) const {
    const TilePlace place = raster.place(tile);
    return {place.row * tile_m, place.col * tile_n};
  }
};

} // namespace tessera::cuda::stream_k
