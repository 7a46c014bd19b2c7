#pragma once

/// What the kernel computes: the product, and how a block's warps share a tile of it.

#include <cstdint>

#include "cuda/gemm/common/emulated_fp16x3/warp_split_plan.hpp"
#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/raster_order.hpp"

namespace tessera::cuda::warp_split {

struct Product {
  StridedOperands<float> whole;
  int chunks;                ///< of k
  int segment_chunks;        ///< of each segment but the last one
  int parts;                 ///< see WarpSplitPlan
  bool a_vectors, b_vectors; ///< lines of the operand can be read by whole vectors (WarpLines)
  RasterOrder order;         ///< of tiles
};

/// A block's tile of down × across tiles of a warp. `groups` warps share a warp's tile.
template <int down_, int across_>
struct BlockTile {
  static constexpr int down = down_, across = across_;
  static constexpr int groups = warps / (down * across);
  static constexpr int threads = warps * 32;
  static constexpr int m = down * tile_lines, n = across * tile_lines;
  static constexpr int own = 8 / groups; ///< results that a lane adds up
  static_assert(groups * down * across == warps && groups <= 8);
};

/// The sums of a warp's chunk, and what undoes its scales.
struct ChunkSums {
  float sum[8][32]; ///< result a of each lane: column half a / 4, row half a / 2 % 2, and the second of two if a is odd
  float rows[16], columns[16]; ///< half by half
};

/// What the blocks of a cluster send to the first one.
template <class Tile>
struct PartSums {
  float sum[most_parts - 1][Tile::own][Tile::threads];
};

/// What a block has in shared memory.
template <class Tile>
struct Shared {
  /// The sums of the last rounds, in which each warp of a tile has a chunk. Warps add up the sums of a round after they
  /// have multiplied their chunks of the next one. So they seldom wait for one another, and some of them read while
  /// others multiply.
  static constexpr int rounds = 4;
  ChunkSums chunks[Tile::down * Tile::across][rounds][Tile::groups];
  PartSums<Tile> received;
  std::uint64_t written[Tile::down * Tile::across][rounds]; ///< completes when a round's sums are there
};

} // namespace tessera::cuda::warp_split
