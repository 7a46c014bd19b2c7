#pragma once

/// What the kernel for operands at any address does, and how long it takes. This header holds no device code, so that a
/// test on the host can look at the choices.

#include <algorithm>

#include <tessera/backend/kernel.hpp>

#include "cuda/gemm/common/ceil_div.hpp"

namespace tessera::cuda::any_alignment {

constexpr int tile_side = 64;  ///< rows and columns of a block's tile
constexpr int tile_depth = 64; ///< k of a stage

struct AnyAlignmentPlan {
  Index tiles;  ///< blocks, one for each tile
  Index stages; ///< of each block, along k
};

constexpr AnyAlignmentPlan plan_of(Index m, Index n, Index k) {
  return {ceil_div<Index>(m, tile_side) * ceil_div<Index>(n, tile_side), ceil_div<Index>(k, tile_depth)};
}

/// Estimates the cycles of a product, fitted to an H100 (docs/lab/random_shapes.md): to start and to end; for a stage,
/// where a multiprocessor has one block, and for each of the two that it has at once; for results, which go out at 422
/// bytes a cycle. Memory brings operands at 1640.
constexpr double cycles_of(Index m, Index n, Index k, Index multiprocessors) {
  constexpr double start = 4100, alone = 2115, together = 1096;
  const AnyAlignmentPlan plan = plan_of(m, n, k);
  const auto each = static_cast<double>(ceil_div(plan.tiles, multiprocessors));
  const auto rounds = static_cast<double>(ceil_div(plan.tiles, 2 * multiprocessors));
  const double stages = static_cast<double>(plan.stages) * std::max(alone * rounds, together * each);
  return start + std::max(stages, static_cast<double>((m + n) * k * 2) / 1640) + static_cast<double>(m * n * 2) / 422;
}

} // namespace tessera::cuda::any_alignment
