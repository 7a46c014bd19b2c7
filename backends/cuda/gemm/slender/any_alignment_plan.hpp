#pragma once

/// Which products the kernel for operands at any address is chosen for, and how many parts of k they have. This header
/// holds no device code, so that a test on the host can look at the choices.

#include <tessera/backend/kernel.hpp>

#include "cuda/gemm/common/ceil_div.hpp"

namespace tessera::cuda::any_alignment {

constexpr int tile_side = 64;  ///< rows and columns of a block's tile
constexpr int tile_depth = 64; ///< k of a stage
constexpr int most_parts = 8;  ///< blocks of the largest cluster that every device has

struct Plan {
  Index tiles, stages;
  int parts; ///< of k: blocks that share a tile

  constexpr Index blocks() const { return tiles * parts; }
  /// Returns the stages of the block that has most.
  constexpr Index stages_each() const { return ceil_div<Index>(stages, parts); }
};

/// Plans a product: there are as many parts as there are multiprocessors for, with two stages or more each. The number
/// of multiprocessors is an H100's and not the device's, because the order of the additions must depend on the sizes
/// alone.
constexpr Plan plan_of(Index m, Index n, Index k) {
  constexpr Index most_blocks = 4 * 132;
  Plan plan{ceil_div<Index>(m, tile_side) * ceil_div<Index>(n, tile_side), ceil_div<Index>(k, tile_depth), 1};
  while (plan.parts < most_parts && plan.blocks() * 2 <= most_blocks && plan.stages >= 4 * plan.parts) plan.parts *= 2;
  return plan;
}

/// Returns whether the product takes less time than the launch that would copy its operands: all blocks run at once,
/// and none has more than two stages.
constexpr bool is_small(const Plan& plan) { return plan.blocks() <= 2 * 132 && plan.stages_each() <= 2; }

} // namespace tessera::cuda::any_alignment
