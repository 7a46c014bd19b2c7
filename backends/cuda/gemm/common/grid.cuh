#pragma once

/// A one-dimensional grid of blocks, each with a tile of tile_m×tile_n results, numbered row by row. The other two
/// dimensions of a grid end at 65535 blocks; this one ends at 2³¹ − 1, which no C that fits in a device's memory
/// reaches with tiles of 16×16 or more.

#include "ceil_div.hpp"
#include "operands.cuh"

namespace tessera::cuda {

inline unsigned tile_count(const GemmCall& call, Index tile_m, Index tile_n) {
  return static_cast<unsigned>(ceil_div(call.m, tile_m) * ceil_div(call.n, tile_n));
}

/// The first row and column of a block's tile.
struct TileOrigin {
  Index row, col;
};

template <class T>
__device__ TileOrigin tile_origin(const StridedOperands<T>& x, int tile_m, int tile_n) {
  const auto across = static_cast<unsigned>(ceil_div<Index>(x.n, tile_n));
  return {static_cast<Index>(blockIdx.x / across) * tile_m, static_cast<Index>(blockIdx.x % across) * tile_n};
}

} // namespace tessera::cuda
