#pragma once

/// Which products the kernel for operands at any address is chosen for. This header holds no device code, so that a
/// test on the host can look at the choices.

#include <tessera/backend/kernel.hpp>

#include "cuda/gemm/common/ceil_div.hpp"

namespace tessera::cuda::any_alignment {

constexpr int tile_side = 64;  ///< rows and columns of a block's tile
constexpr int tile_depth = 64; ///< k of a stage

struct Plan {
  Index tiles;  ///< blocks, one for each tile
  Index stages; ///< of each block, along k
};

constexpr Plan plan_of(Index m, Index n, Index k) {
  return {ceil_div<Index>(m, tile_side) * ceil_div<Index>(n, tile_side), ceil_div<Index>(k, tile_depth)};
}

/// Returns whether the product takes less time than the launch that would copy its operands: all blocks run at once,
/// and none has more than two stages.
constexpr bool is_small(const Plan& plan) { return plan.tiles <= 2 * 132 && plan.stages <= 2; }

} // namespace tessera::cuda::any_alignment
