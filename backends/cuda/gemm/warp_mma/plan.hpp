#pragma once

/// The plan of a product by a warp's matrix instructions: the side of its tiles, and whether a block has all segments
/// of k or one of them. The bits do not depend on it. This header holds no device code, so that a test on the host can
/// look at the choices.

#include <algorithm>
#include <limits>

#include <tessera/detail/matrix_unit_segments.hpp>
#include <tessera/executor.hpp>

#include "cuda/gemm/common/any_alignment/plan.hpp"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/copies/copied_operands.hpp"
#include "cuda/gemm/common/wgmma_tma/plan.hpp"

namespace tessera::cuda::warp_mma {

constexpr int depth_bytes = 128; ///< bytes of k that are multiplied between two looks at the ring of stages

struct WarpMmaPlan {
  int side;
  int parts;         ///< blocks of a cluster, one for each segment of k; 1: a block has all segments
  double cycles = 0; ///< that the product takes by the model
};

/// What a tile costs in cycles. `start`: to start, to end, and to wait for the first operands. `alone`, `together`: for
/// 128 bytes of k, where a multiprocessor has one block, and for each of the blocks that it has at once.
struct Cost {
  double start, alone, together;
};
/// A tile, the blocks that a multiprocessor has at once, and the costs, fitted to an H100 (docs/lab/matrix_units.md,
/// docs/lab/random_shapes.md). `shifted`, `realigned`: of f32 and of 16 bits whose lines begin anywhere. Large tiles
/// have such operands copied first.
struct TileModel {
  int side, resident;
  Cost aligned, shifted, realigned;
};
constexpr TileModel tiles[]{{16, 2, {3490, 150, 134}, {3490, 300, 268}, {4090, 391, 295}},
                            {32, 2, {3380, 208, 208}, {3380, 395, 395}, {3920, 832, 607}},
                            {64, 2, {4530, 445, 431}, {4530, 757, 733}, {6540, 1573, 1134}},
                            {128, 1, {9330, 1130, 1130}, {13330, 1130, 1130}, {13330, 1130, 1130}}};
constexpr double adding = 1650; ///< cycles in which the first block of a cluster gets the others' sums

/// Estimates the cycles of a product of elements of `element` bytes. `parts`: blocks that share k. The L2 cache brings
/// 5160 bytes a cycle to all blocks, and memory brings each operand once, at 1640. Results go out at 545, since a lane
/// stores two neighbours at a time.
inline double cost_of(const TileModel& tile, Index m, Index n, Index k, Index element, bool aligned, int parts,
                      Index multiprocessors) {
  const Index of_block = parts > 1 ? detail::matrix_unit_segment_length(k) : k;
  const auto panels = static_cast<double>(ceil_div<Index>(of_block * element, depth_bytes));
  const Index blocks = ceil_div<Index>(m, tile.side) * ceil_div<Index>(n, tile.side) * parts;
  const Index at_once = tma::clusters_at_once(multiprocessors, parts) * parts;
  const Index each = ceil_div(blocks, at_once), rounds = ceil_div<Index>(each, tile.resident);
  const Cost& cost = aligned ? tile.aligned : element == 4 ? tile.shifted : tile.realigned;
  const double panel = std::max(cost.alone * static_cast<double>(rounds), cost.together * static_cast<double>(each));
  const double cached = static_cast<double>(blocks * 2 * tile.side * depth_bytes) * panels / 5160;
  const double read = static_cast<double>((m + n) * k * element) / 1640;
  return cost.start * static_cast<double>(rounds) + std::max({panels * panel, cached, read}) +
         static_cast<double>(m * n * element) / 545 + (parts > 1 ? adding : 0);
}

/// Returns the plan that is done first, by the model.
inline WarpMmaPlan plan_of(const GemmCall& call, Index element, const Capabilities& machine) {
  const Index multiprocessors = std::max(2, machine.multiprocessors);
  const Index segments = detail::matrix_unit_segments(call.k);
  // Large blocks add segments in registers. Clusters are Hopper's; and so is the room for the others' sums.
  const bool can_share = machine.compute_major == 9 && segments > 1 && segments <= 4;
  const bool aligned = operands_are_aligned(call, element);
  WarpMmaPlan best{.side = 0, .parts = 1, .cycles = std::numeric_limits<double>::infinity()};
  const auto consider = [&](const TileModel& tile, int parts) {
    const double cost = cost_of(tile, call.m, call.n, call.k, element, aligned, parts, multiprocessors);
    if (cost < best.cycles) best = {tile.side, parts, cost};
  };
  for (const TileModel& tile : tiles) {
    consider(tile, 1);
    if (can_share && tile.side < 128) consider(tile, static_cast<int>(segments));
  }
  return best;
}

/// Says whether these kernels are taken on Hopper instead of those by tensor maps, and for 16-bit operands that are not
/// aligned instead of the kernel for any address. The model of tensor maps' kernels has been measured for longer, so
/// that this one has to promise three tenths more.
inline bool is_small(const GemmCall& call, Index element, const Capabilities& machine) {
  if (std::min({call.m, call.n, call.k}) == 0) return true;
  const WarpMmaPlan plan = plan_of(call, element, machine);
  const Index multiprocessors = std::max(2, machine.multiprocessors);
  if (element == 2 && !operands_are_aligned(call, element) &&
      plan.cycles >= any_alignment::cycles_of(call.m, call.n, call.k, multiprocessors))
    return false;
  return plan.side < 128 && plan.cycles * 1.3 < tma::cycles_of(call, element, multiprocessors);
}

} // namespace tessera::cuda::warp_mma
