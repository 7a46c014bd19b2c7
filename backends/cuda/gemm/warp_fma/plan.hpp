#pragma once

/// The plan of a product of few results by FMAs: its tiles, and whether a block has all segments of k or one of them.
/// The bits do not depend on it. This header holds no device code, so that a test on the host can look at the choices.

#include <algorithm>
#include <limits>

#include <tessera/executor.hpp>

#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/copies/copied_operands.hpp"
#include "cuda/gemm/common/wgmma_tma/plan.hpp"

namespace tessera::cuda::warp_fma {

constexpr int depth = 64;          ///< k of a stage
constexpr int resident_blocks = 2; ///< that a multiprocessor has at once

struct WarpFmaPlan {
  int m = 0, n = 0;  ///< of a tile
  int parts = 1;     ///< blocks of a cluster, one for each segment of k; 1: a block has all segments
  double cycles = 0; ///< that the product takes by the model
};

constexpr double never = 1e9; ///< cycles of a tile that is not chosen
/// A tile and the cycles that a stage takes, fitted to an H100 (docs/lab/random_shapes.md), in f32 and f64: where both
/// operands lie along k, one, or none. In f64 the others' matrix instructions are faster than large tiles of FMAs.
struct TileModel {
  int m, n;
  double f32[3], f64[3];

  const double* cycles(DType type) const { return type == DType::F32 ? f32 : f64; }
};
constexpr TileModel tiles[]{{8, 16, {330, 460, 600}, {620, 670, 700}},
                            {16, 8, {330, 460, 600}, {620, 670, 700}},
                            {16, 16, {450, 610, 680}, {850, 900, 940}},
                            {16, 32, {660, 710, 740}, {never, never, never}},
                            {32, 32, {1110, 1100, 1060}, {never, never, never}}};

/// Estimates the cycles of a product whose operands' lines begin at multiples of `a` and `b` bytes. `parts`: blocks
/// that share k.
///
/// A product starts, ends and waits for its first operands in `start` cycles. A copy by 32 threads takes `copy` cycles,
/// or `beside_reads` more where reads of shared memory take all of the time. `last_copies` is what small pieces of a
/// panel that is not whole take. The first block of a cluster gets the others' sums in `adding` cycles.
inline double cost_of(const TileModel& tile, const GemmCall& call, Index a, Index b, int parts, Index multiprocessors) {
  constexpr double start = 3000, copy = 12.7, beside_reads = 7, last_copies = 300, adding = 1500;
  const Index element = size_of(call.type);
  const Index k = parts > 1 ? canonical_segment : call.k;
  const auto copies = [&](Index of_a, Index of_b) { // of a stage, by pieces of so many bytes
    const Index m = std::min<Index>(tile.m, call.m), n = std::min<Index>(tile.n, call.n);
    return static_cast<double>(m * depth * element / of_a + n * depth * element / of_b) / 32;
  };
  const int outer = (call.op_a != Op::None) + (call.op_b == Op::None);
  const bool waits_for_shared = tile.m * tile.n > 256; // and so for each copy more
  const double beside = waits_for_shared ? beside_reads * (copies(a, b) - copies(16, 16)) : 0;
  const double panel = std::max(tile.cycles(call.type)[outer] + beside, copy * copies(a, b));
  const Index blocks = ceil_div<Index>(call.m, tile.m) * ceil_div<Index>(call.n, tile.n) * parts;
  const Index rounds = ceil_div(blocks, tma::clusters_at_once(multiprocessors, parts) * parts);
  const double read = static_cast<double>((call.m + call.n) * call.k * element) / 1640; // from memory
  return start + std::max(static_cast<double>(ceil_div<Index>(k, depth) * rounds) * panel, read) +
         static_cast<double>(blocks) + (std::min(a, b) < 16 && call.k % depth != 0 ? last_copies : 0) +
         (parts > 1 ? adding : 0);
}

/// Returns the plan of the least cost.
inline WarpFmaPlan plan_of(const GemmCall& call, const Capabilities& machine) {
  const Index multiprocessors = std::max(2, machine.multiprocessors);
  const Index segments = ceil_div(call.k, canonical_segment);
  const bool can_share = machine.compute_major == 9 && segments > 1 && segments <= 8; // as many as clusters have blocks
  const Index a = alignment_of_a(call, size_of(call.type)), b = alignment_of_b(call, size_of(call.type));
  WarpFmaPlan best{.cycles = std::numeric_limits<double>::infinity()};
  const auto consider = [&](const TileModel& tile, int parts) {
    const double cost = cost_of(tile, call, a, b, parts, multiprocessors);
    if (cost < best.cycles) best = {tile.m, tile.n, parts, cost};
  };
  for (const TileModel& tile : tiles) {
    consider(tile, 1);
    if (can_share) consider(tile, static_cast<int>(segments));
  }
  return best;
}

/// Estimates the cycles of the other kernels of Math::Strict, slender and stream_k, for a product of few results: of a
/// result's chain, of more results where k is not short, and of the second kernel, which adds the sums of segments.
/// More than 150,000 results take them longer, but are not few.
inline double cycles_of_others(const GemmCall& call) {
  const auto chain = static_cast<double>(std::min(call.k, canonical_segment));
  const double adding = call.k > canonical_segment ? 1700 : 0;
  if (call.type == DType::F32)
    return 2900 + 18 * chain +
           (call.k < 256 ? 0 : 0.02 * static_cast<double>(std::min<Index>(call.m * call.n, 150'000))) + adding +
           (operands_are_aligned(call, 4) ? 0 : 700);
  return std::min(call.m, call.n) <= 16 ? 2900 + 24 * chain + adding : 3950 + 12.5 * chain + adding;
}

/// Says whether these kernels take less time than the others.
inline bool is_small(const GemmCall& call, const Capabilities& machine) {
  return std::min({call.m, call.n, call.k}) > 0 && plan_of(call, machine).cycles * 1.05 < cycles_of_others(call);
}

} // namespace tessera::cuda::warp_fma
