#pragma once

/// Products of a batch that share the rows of A and C, where the rows' ends are numbers in a device's memory: which
/// product has a tile. A warp looks at 32 products at once, one a lane, by the prefix sums of their tiles. Source: the
/// decoupled lists of tiles of CUTLASS's grouped GEMM, which a scheduler warp walks in the same way.

#include <tessera/batch.hpp>

#include "ceil_div.hpp"

namespace tessera::cuda {

/// A tile of a product that is found: the product, its rows, and the number of the tile in the product.
struct FoundTile {
  int product; ///< negative: there is no such tile
  Index begin, end;
  unsigned tile;
};

/// Finds tiles in ascending order. All lanes of a warp make it and call it together.
class ProductsByEnds {
 public:
  /// `rows`: of all products. A product has tiles of `tile_m` rows, `across` of them side by side. An end below the one
  /// before it stands for that one, and an end beyond `rows` for `rows`.
  __device__ ProductsByEnds(RowEnds ends, int products, Index rows, Index tile_m, unsigned across)
      : ends_(ends),
        rows_(rows),
        tile_m_(tile_m),
        products_(products),
        lane_(static_cast<int>(threadIdx.x) % 32),
        across_(across) {
    look();
  }

  /// Finds tile `number`, which must not be below the one of the call before.
  __device__ FoundTile find(unsigned number) {
    while (true) {
      const unsigned reached = __ballot_sync(~0U, number < before_ + tiles_);
      if (reached != 0) {
        const int lane = __ffs(static_cast<int>(reached)) - 1;
        return {first_ + lane, __shfl_sync(~0U, begin_, lane), __shfl_sync(~0U, end_, lane),
                number - __shfl_sync(~0U, before_ + tiles_ - own_tiles_, lane)};
      }
      if (first_ + 32 >= products_) return {-1, 0, 0, 0};
      first_ += 32;
      before_ += __shfl_sync(~0U, tiles_, 31);
      rows_before_ = __shfl_sync(~0U, end_, 31);
      look();
    }
  }

 private:
  /// Reads the ends of the 32 products from `first_` on.
  __device__ void look() {
    const int product = first_ + lane_;
    end_ = product < products_ ? ends_.at(product) : 0;
    end_ = min(max(end_, rows_before_), rows_);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) { // the largest end so far, in case that ends do not ascend
      const Index other = __shfl_up_sync(~0U, end_, step);
      if (lane_ >= step) end_ = max(end_, other);
    }
    begin_ = __shfl_up_sync(~0U, end_, 1);
    if (lane_ == 0) begin_ = rows_before_;
    own_tiles_ = static_cast<unsigned>(ceil_div<Index>(end_ - begin_, tile_m_)) * across_;
    tiles_ = own_tiles_;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const unsigned other = __shfl_up_sync(~0U, tiles_, step);
      if (lane_ >= step) tiles_ += other;
    }
  }

  RowEnds ends_;
  Index rows_, tile_m_;
  int products_, lane_;
  unsigned across_;
  int first_ = 0;         ///< the product of lane 0
  unsigned before_ = 0;   ///< tiles of the products before it
  Index rows_before_ = 0; ///< where their rows end
  Index begin_, end_;     ///< rows of this lane's product
  unsigned own_tiles_;    ///< its tiles
  unsigned tiles_;        ///< tiles of the products from `first_` to this lane's
};

} // namespace tessera::cuda
