#pragma once

/// In which order tiles are computed, so that those next to one another share operands in the L2 cache.

#include "divisor.hpp"

namespace tessera::cuda {

/// A tile's row and column among the tiles.
struct TilePlace {
  Index row, col;
};

/// Tiles numbered column by column within bands of rows of them, so that those next to one another share operands; and
/// layers of such tiles, one behind the other.
class RasterOrder {
 public:
  RasterOrder(Index tiles_m, Index tiles_n, Index height)
      : layer_(tiles_m * tiles_n),
        group_(height * tiles_n),
        height_(height),
        last_height_((tiles_m - 1) % height + 1),
        last_((tiles_m - 1) / height) {}

  __host__ __device__ Index tiles() const { return layer_.value(); } ///< of a layer
  __host__ __device__ Index layer(Index tile) const { return layer_.quotient(tile); }
  /// Of a tile of the first layer.
  __host__ __device__ TilePlace place(Index tile) const {
    const Index group = group_.quotient(tile);
    const Index in_group = tile - group * group_.value();
    const Divisor& height = group < last_ ? height_ : last_height_;
    const Index col = height.quotient(in_group);
    return {group * height_.value() + in_group - col * height.value(), col};
  }

 private:
  Divisor layer_, group_, height_, last_height_;
  Index last_; ///< band
};

/// The same with divisions, for kernels that RasterOrder among their parameters makes slower (wgmma_product.cuh's, by 1
/// %).
__host__ __device__ inline TilePlace raster_place(Index tile, Index tiles_m, Index tiles_n, Index height) {
  const Index first = tile / (height * tiles_n) * height;
  const Index rows = tiles_m - first < height ? tiles_m - first : height;
  const Index in_group = tile - first * tiles_n;
  return {first + in_group % rows, in_group / rows};
}

} // namespace tessera::cuda
