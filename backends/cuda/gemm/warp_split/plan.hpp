#pragma once

/// The plan of a product whose warps split their operands themselves: how the warps of a block share its work, and
/// whether blocks share k. The bits do not depend on it. This header holds no device code, so that a test on the host
/// can look at the choices.

#include <tessera/types.hpp>

namespace tessera::cuda::warp_split {

constexpr int warps = 8;      ///< of a block
constexpr int tile_lines = 16; ///< rows, and columns, of a warp's tile
constexpr int most_parts = 4; ///< blocks of a cluster, one for each segment of k

/// A block has `down` by `across` tiles of 16×16 results. Each is computed by 8 / (down · across) warps, which take
/// chunks of k in turn.
struct Plan {
  int down = 1, across = 1;
  int parts = 1; ///< blocks that share k, one for each segment; 1: a block has all segments
};

} // namespace tessera::cuda::warp_split
