#pragma once

/// What a kernel of stream_k is given, and where its tiles lie.

#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/segment_sums.cuh"
#include "schedule.hpp"

namespace tessera::cuda::stream_k {

constexpr int producers = 128;    ///< threads; registers can be moved to the others by whole warpgroups
constexpr int raster_height = 16; ///< rows of tiles that are walked together, so that their panels meet in the L2 cache

template <class T>
struct Params {
  VectorOperands<T> x;
  Schedule schedule;
  RasterOrder raster; ///< of tiles, a layer for each segment
  Index segments;     ///< of k
  T* sums;            ///< [segment][m][n], if there are several
  T* hand_offs;       ///< [block][2][result of a thread][thread]: sums on their way to the next block, and their totals
  int* flags;         ///< [block][warp]: 1 while they are there; chained: [tile][warp]: how many segments are added
  T* totals;          ///< [block][result of a thread][thread]; chained: [tile]…
  int* drawn_units;   ///< chained: how many units blocks have drawn

  /// The product that tiles are part of: all of k, or one segment.
  __device__ VectorOperands<T> product_of(Index segment) const {
    return segments == 1 ? x : segment_of(x, segment, sums);
  }
  /// Of a tile of any segment, counted in it.
  __device__ TileOrigin origin(Index tile, int tile_m, int tile_n) const {
    const TilePlace place = raster.place(tile);
    return {place.row * tile_m, place.col * tile_n};
  }
};

} // namespace tessera::cuda::stream_k
