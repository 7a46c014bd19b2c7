#pragma once

/// The plan of a product whose warps split their operands themselves: how the warps of a block share its work, and
/// whether blocks share k. The bits do not depend on it. This header holds no device code, so that a test on the host
/// can look at the choices.

#include <algorithm>
#include <limits>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/emulated_segments.hpp>

#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/copies/copied_operands.hpp"
#include "cuda/gemm/common/wgmma_tma/plan.hpp"

namespace tessera::cuda::warp_split {

constexpr int warps = 8;       ///< of a block
constexpr int tile_lines = 16; ///< rows, and columns, of a warp's tile
constexpr int most_parts = 4;  ///< blocks of a cluster, one for each segment of k

/// A block has `down` by `across` tiles of 16×16 results. Each is computed by 8 / (down · across) warps, which take
/// chunks of k in turn.
struct WarpSplitPlan {
  int down = 1, across = 1;
  int parts = 1; ///< blocks that share k, one for each segment; 1: a block has all segments

  constexpr int groups() const { return warps / (down * across); }
};

/// The plans that there are, except for their parts.
constexpr WarpSplitPlan tiles[]{{1, 1}, {2, 2}, {1, 4}, {4, 1}};

/// Returns the reads of an operand's chunk by a lane: of 16 bytes along k, of 8 bytes across, or one by one.
inline int reads_of(Index alignment, bool along_k, Index k) {
  if (along_k) return alignment == 16 && k % 4 == 0 ? 16 : 64;
  return alignment >= 8 ? 32 : 64;
}

/// Estimates the microseconds of a product by a plan, fitted to an H100 (docs/lab/cuda_gemm.md) for two terms; with one
/// term a third of the products are left. A block's warps take `read` for each read of a lane, and `chunk` beside, for
/// a chunk each; a last round in which few warps have a chunk takes less. Operands pass through the L2 cache once for
/// each tile.
inline double time_of(const GemmCall& call, const WarpSplitPlan& plan, Index multiprocessors) {
  constexpr double start = 0.7, read = 0.018, block = 2.3, sharing = 1.1, alone = 0.27;
  const double chunk = call.math == Math::ScaledFp16 ? 1.4 : 2.06;
  constexpr double cache = 6.5e6, memory = 2.6e6; // bytes a microsecond
  const Index chunks = ceil_div(call.k, detail::emulated_chunk);
  const Index of_block = plan.parts > 1 ? std::min(chunks, detail::emulated_segment_chunks(call.k)) : chunks;
  const Index count =
      ceil_div<Index>(call.m, plan.down * tile_lines) * ceil_div<Index>(call.n, plan.across * tile_lines);
  const Index waves = ceil_div(count, tma::clusters_at_once(multiprocessors, plan.parts));
  const int reads = reads_of(alignment_of_a(call, sizeof(float)), call.op_a == Op::None, call.k) +
                    reads_of(alignment_of_b(call, sizeof(float)), call.op_b == Op::Transpose, call.k);
  const double round = chunk + read * reads;
  const Index rest = of_block % plan.groups(), whole = of_block / plan.groups();
  const double rounds =
      static_cast<double>(whole) + (rest > 0 ? std::max(alone, static_cast<double>(rest) / plan.groups()) : 0);
  const double computing = static_cast<double>(waves) * (rounds * round + block) + (plan.parts > 1 ? sharing : 0);
  const double cached = static_cast<double>(count * plan.parts * of_block * (plan.down + plan.across) * tile_lines *
                                            detail::emulated_chunk * 4) /
                        cache;
  return start + std::max({computing, cached, static_cast<double>((call.m + call.n) * call.k * 4) / memory});
}

struct Estimate {
  double microseconds = std::numeric_limits<double>::infinity();
  WarpSplitPlan plan = {};
};

/// Returns the plan that is done first.
inline Estimate best_of(const GemmCall& call, Index multiprocessors) {
  Estimate best;
  if (std::max({call.m, call.n, call.k}) >= Index{1} << 30) return best;
  const Index chunks = ceil_div(call.k, detail::emulated_chunk);
  const auto segments = static_cast<int>(ceil_div(chunks, detail::emulated_segment_chunks(call.k)));
  for (WarpSplitPlan plan : tiles)
    for (plan.parts = 1; plan.parts <= segments; plan.parts += std::max(1, segments - 1))
      if (const double time = time_of(call, plan, multiprocessors); time < best.microseconds) best = {time, plan};
  return best;
}

} // namespace tessera::cuda::warp_split
