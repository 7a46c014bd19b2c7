#pragma once

/// The raster order: in which order tiles of C are computed, so that tiles that follow one another share operands in
/// the L2 cache.

#include "divisor.hpp"

namespace tessera::cuda {

/// The row and column of a tile, counted in tiles.
struct TilePlace {
  Index row, col;
};

/// The raster order by groups of `height` rows of tiles: within a group, tiles are numbered column by column. (Triton
/// calls this grouped ordering.) Layers of such tiles, for example one for each segment of k, follow one another.
class RasterOrder {
 public:
  RasterOrder(Index tiles_m, Index tiles_n, Index height)
      : layer_(tiles_m * tiles_n),
        group_(height * tiles_n),
        height_(height),
        last_height_((tiles_m - 1) % height + 1),
        last_((tiles_m - 1) / height) {}

  __host__ __device__ Index tiles() const { return layer_.value(); } ///< tiles of a layer
  __host__ __device__ Index layer(Index tile) const { return layer_.quotient(tile); }
  /// Returns the place of a tile of the first layer.
  __host__ __device__ TilePlace place(Index tile) const {
    const Index group = group_.quotient(tile);
    const Index in_group = tile - group * group_.value();
    const Divisor& height = group < last_ ? height_ : last_height_;
    const Index col = height.quotient(in_group);
    return {group * height_.value() + in_group - col * height.value(), col};
  }

 private:
  Divisor layer_, group_, height_, last_height_;
  Index last_; ///< number of the last group
};

/// Returns RasterOrder(tiles_m, tiles_n, height).place(tile) by divisions. It is for kernels that a RasterOrder among
/// their parameters makes slower: wgmma_packed (docs/lab/cuda_gemm.md).
__host__ __device__ inline TilePlace raster_place(Index tile, Index tiles_m, Index tiles_n, Index height) {
  const Index first = tile / (height * tiles_n) * height;
  const Index rows = tiles_m - first < height ? tiles_m - first : height;
  const Index in_group = tile - first * tiles_n;
  return {first + in_group % rows, in_group / rows};
}

} // namespace tessera::cuda
