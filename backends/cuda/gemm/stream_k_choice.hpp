#pragma once

/// Which tiles stream_k takes, whether it cuts k at the segments, and whether a chain of blocks adds them: by a model
/// in clock cycles. On the host alone, so that a test can look at what is chosen.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include <tessera/kernel.hpp>

#include "ceil_div.hpp"

namespace tessera::cuda::stream_k {

/// What the model knows of a kernel.
struct TileCost {
  int m, n;
  int blocks;       ///< a multiprocessor
  int cycles;       ///< that a step of k takes a block where multiprocessors are full
  int cycles_alone; ///< and where it has one to itself

  constexpr Index count(const GemmCall& call) const { return ceil_div<Index>(call.m, m) * ceil_div<Index>(call.n, n); }
};

constexpr TileCost f32_large{256, 128, 1, 310, 310}, f32_small{64, 128, 2, 175, 105};
constexpr TileCost f64_large{128, 128, 1, 135, 135}, f64_medium{128, 64, 1, 72, 72}, f64_small{64, 64, 2, 75, 45},
    f64_least{64, 32, 2, 45, 28}, f64_flat{32, 64, 2, 45, 28};

inline Index segments_of(const GemmCall& call) { return ceil_div(call.k, canonical_segment); }

/// Clock cycles that a product takes, about, to compare tiles and cuts.
inline Index cost(const TileCost& tile, const GemmCall& call, Index segments, Index multiprocessors) {
  const Index tiles = tile.count(call);
  const Index length = segments == 1 ? call.k : canonical_segment;
  const Index slots = tile.blocks * multiprocessors;
  // A tile's chains take their time, whoever computes them.
  const Index steps = std::max(length, ceil_div(tiles * call.k, slots));
  const Index sum_bytes = (segments + 1) * call.m * call.n * static_cast<Index>(size_of(call.type));
  const Index adding = segments == 1 ? 0 : 6000 + sum_bytes / 2000;
  return steps * (tiles * segments > multiprocessors ? tile.cycles : tile.cycles_alone) + adding;
}

struct Choice {
  std::size_t tile; ///< of those there are
  Index segments;   ///< 1: k is not cut at them
  Index cost;
};

/// The best of several sizes of tiles, and k cut at the segments or not; the first of those.
inline Choice choose(std::span<const TileCost> tiles, const GemmCall& call, Index multiprocessors) {
  Choice best{0, 1, std::numeric_limits<Index>::max()};
  for (const Index segments : {Index{1}, segments_of(call)})
    for (std::size_t tile = 0; tile < tiles.size(); ++tile)
      if (const Index least = cost(tiles[tile], call, segments, multiprocessors); least < best.cost)
        best = {tile, segments, least};
  return best;
}

/// Does a chain of such tiles, with k cut at the segments, take less time than `best`? Those of a tile that are
/// computed at the same time are added one after the other, once; from then on each is as late as it has to be.
inline bool chain_pays(const TileCost& tile, const GemmCall& call, const Choice& best, Index multiprocessors) {
  const Index tiles = tile.count(call);
  const Index slots = tile.blocks * multiprocessors;
  const Index segments = segments_of(call);
  const Index waves = ceil_div(tiles * segments, slots);
  constexpr Index link = 5000; // cycles that adding takes, with the flag
  const Index unit = canonical_segment * tile.cycles;
  const Index chain = std::max(waves * unit + ceil_div(slots, tiles) * link, segments * link + unit);
  // Of sums that a chain saves cost() knows too little: more than the L2 cache keeps go to memory and come back.
  constexpr Index kept = Index{32} << 20;
  const Index sums = best.segments == 1 ? 0 : segments * call.m * call.n * static_cast<Index>(size_of(call.type));
  const Index memory = std::max<Index>(0, sums - kept) / 1000;
  return segments > 1 && tiles < multiprocessors && waves >= 4 && chain < best.cost + memory;
}

} // namespace tessera::cuda::stream_k
