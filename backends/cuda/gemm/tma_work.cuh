#pragma once

/// Which results a cluster and a block compute, and from which k.

#include "tma_epilogue.cuh"

namespace tessera::cuda::tma {

constexpr unsigned band = 8; ///< clusters' tiles that lie below one another, so that their panels meet in the L2 cache

/// op(A) and op(B), or, if `swapped`, op(B)ᵀ and op(A)ᵀ, the product of which is Cᵀ.
struct Product {
  Operand a, b;
  bool swapped;
  Results to;
  int blocks;           ///< of k
  int tiles_m, tiles_n; ///< a tile here is a cluster's
  int slices;           ///< of k, a plane of sums each
};

/// A cluster's share of the work: one tile's slice of k.
struct Work {
  int row, col; ///< of the tile's first result in this block
  int slice;
  int begin, end; ///< blocks of k

  /// Without 64-bit divisions, which are long: nothing is multiplied until this is done.
  __device__ Work(const Product& x, int index, int tile_n, unsigned rank) {
    const unsigned tiles_m = static_cast<unsigned>(x.tiles_m), tiles_n = static_cast<unsigned>(x.tiles_n);
    const unsigned tiles = tiles_m * tiles_n;
    unsigned tile = static_cast<unsigned>(index);
    begin = 0;
    end = x.blocks;
    slice = 0;
    if (x.slices > 1) {
      slice = index / static_cast<int>(tiles);
      tile -= static_cast<unsigned>(slice) * tiles;
      begin = first_block(x, slice);
      end = first_block(x, slice + 1);
    }
    // Column by column within bands of rows of tiles.
    const unsigned first = tile / (band * tiles_n) * band;
    const unsigned height = min(tiles_m - first, band);
    const unsigned in_band = tile - first * tiles_n;
    const unsigned across = in_band / height;
    row = static_cast<int>(((first + in_band - across * height) * cluster + rank) * tile_m);
    col = static_cast<int>(across) * tile_n;
  }

 private:
  /// As many blocks for each slice, or one more for the first ones.
  static __device__ int first_block(const Product& x, int slice) {
    return slice * (x.blocks / x.slices) + min(slice, x.blocks % x.slices);
  }
};

} // namespace tessera::cuda::tma
