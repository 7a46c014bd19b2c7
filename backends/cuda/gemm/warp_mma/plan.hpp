#pragma once

/// The plan of a product by a warp's matrix instructions: the side of its tiles, and whether a block has all segments
/// of k or one of them. The bits do not depend on it. This header holds no device code, so that a test on the host can
/// look at the choices.

#include <algorithm>
#include <limits>

#include <tessera/detail/matrix_unit_segments.hpp>
#include <tessera/executor.hpp>

#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/copies/copied_operands.hpp"
#include "cuda/gemm/common/wgmma_tma/plan.hpp"

namespace tessera::cuda::warp_mma {

constexpr int depth_bytes = 128; ///< bytes of k that are multiplied between two looks at the ring of stages

struct Plan {
  int side;
  int parts;         ///< blocks of a cluster, one for each segment of k; 1: a block has all segments
  double cycles = 0; ///< that the product takes by the model
};

/// A tile and what it costs in cycles, fitted to an H100 (docs/lab/matrix_units.md). `start`: to start, to end, and to
/// wait for the first operands. `alone`, `together`: for 128 bytes of k, where a multiprocessor has one block, and for
/// each of `resident` blocks that it has at once. `shifted`: the factor of f32 whose lines begin anywhere.
struct TileModel {
  int side, resident;
  double start, alone, together, shifted;
};
constexpr TileModel tiles[]{{16, 2, 3140, 235, 185, 1.5},
                            {32, 1, 3060, 290, 290, 1.45},
                            {64, 1, 4070, 520, 520, 1.3},
                            {128, 1, 10400, 1140, 1140, 1}};
constexpr double adding = 1250; ///< cycles in which the first block of a cluster gets the others' sums

/// Estimates the cycles of a product of elements of `element` bytes. `parts`: blocks that share k. The L2 cache brings
/// 7000 bytes a cycle to all blocks, and memory brings each operand once, at 1640. Results go out at 735, since a lane
/// stores two neighbours at a time.
inline double cost_of(const TileModel& tile, Index m, Index n, Index k, Index element, bool aligned, int parts,
                      Index multiprocessors) {
  const Index of_block = parts > 1 ? detail::matrix_unit_segment_length(k) : k;
  const auto panels = static_cast<double>(ceil_div<Index>(of_block * element, depth_bytes));
  const Index blocks = ceil_div<Index>(m, tile.side) * ceil_div<Index>(n, tile.side) * parts;
  const Index at_once = tma::clusters_at_once(multiprocessors, parts) * parts;
  const Index each = ceil_div(blocks, at_once), rounds = ceil_div<Index>(each, tile.resident);
  const double panel = std::max(tile.alone * static_cast<double>(rounds), tile.together * static_cast<double>(each)) *
                       (aligned ? 1 : tile.shifted);
  const double cached = static_cast<double>(blocks * 2 * tile.side * depth_bytes) * panels / 7000;
  const double read = static_cast<double>((m + n) * k * element) / 1640;
  return tile.start * static_cast<double>(rounds) + std::max({panels * panel, cached, read}) +
         static_cast<double>(m * n * element) / 735 + (parts > 1 ? adding : 0);
}

/// Returns the plan that is done first, by the model.
inline Plan plan_of(const GemmCall& call, Index element, const Capabilities& machine) {
  const Index multiprocessors = std::max(2, machine.multiprocessors);
  const Index segments = detail::matrix_unit_segments(call.k);
  // Large blocks add segments in registers. Clusters are Hopper's; and so is the room for the others' sums.
  const bool can_share = machine.compute_major == 9 && segments > 1 && segments <= 4;
  const bool aligned = operands_are_aligned(call, element);
  Plan best{};
  double least = std::numeric_limits<double>::infinity();
  for (const TileModel& tile : tiles)
    for (const int parts : {1, can_share && tile.side < 128 ? static_cast<int>(segments) : 1}) {
      const double cost = cost_of(tile, call.m, call.n, call.k, element, aligned, parts, multiprocessors);
      if (cost < least) {
        least = cost;
        best = {tile.side, parts, cost};
      }
    }
  return best;
}

/// Says whether these kernels are taken for a product in tf32 on Hopper, instead of wgmma_tf32. The model of wgmma has
/// been measured for longer, so that this one has to promise a quarter more.
inline bool is_small_in_tf32(const GemmCall& call, const Capabilities& machine) {
  if (std::min({call.m, call.n, call.k}) == 0) return true;
  const Plan plan = plan_of(call, 4, machine);
  return plan.side < 128 && plan.cycles * 1.25 < tma::tf32_cycles(call, std::max(2, machine.multiprocessors));
}

} // namespace tessera::cuda::warp_mma
