#pragma once

/// The model, in clock cycles, by which stream_k chooses its tiles, decides whether to cut k at the segments, and
/// whether a chain of blocks adds the segments. This header holds no device code, so that a test on the host can look
/// at the choices. docs/lab/cuda_gemm.md tells how the model was fitted.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include <tessera/backend/kernel.hpp>

#include "cuda/gemm/common/ceil_div.hpp"

namespace tessera::cuda::stream_k {

/// Describes what the model knows of a kernel.
struct TileModel {
  int m, n;
  int blocks;       ///< blocks that share a multiprocessor
  int cycles;       ///< cycles of a block for one step of k, where every multiprocessor holds `blocks` blocks
  int cycles_alone; ///< the cycles for one step where the block has its multiprocessor to itself

  constexpr Index count(const GemmCall& call) const { return ceil_div<Index>(call.m, m) * ceil_div<Index>(call.n, n); }
};

constexpr TileModel f32_large{256, 128, 1, 290, 290}, f32_square{128, 128, 2, 293, 192},
    f32_medium{64, 128, 2, 175, 96}, f32_small{64, 64, 2, 93, 54}, f32_flat{32, 64, 2, 56, 31},
    f32_least{32, 32, 2, 36, 22};
constexpr TileModel f64_large{128, 128, 1, 133, 133}, f64_medium{128, 64, 1, 71, 71}, f64_square{64, 64, 1, 40, 40},
    f64_small{64, 32, 2, 47, 29}, f64_flat{32, 64, 2, 47, 29}, f64_least{32, 32, 1, 15, 15};

constexpr Index least_cut = 256; ///< the shortest k whose tiles may be cut at any step

inline Index segments_of(const GemmCall& call) { return ceil_div(call.k, canonical_segment); }

/// Estimates the clock cycles of a product, to compare tiles, cuts, and numbers of blocks on a multiprocessor.
inline Index cost(const TileModel& tile, const GemmCall& call, Index segments, Index blocks, Index multiprocessors) {
  const Index tiles = tile.count(call);
  const Index length = segments == 1 ? call.k : canonical_segment;
  const Index slots = blocks * multiprocessors;
  const Index items = tiles * segments;
  const Index results = Index{tile.m} * tile.n / 4; // cycles to store results, in C or for another block
  const bool cut = items > slots && length >= least_cut;
  const Index waves = cut ? 1 : ceil_div(items, slots);
  // A tile's chains take their whole length in time, no matter which blocks compute them.
  const Index steps = cut ? std::max(length, ceil_div(tiles * call.k, slots)) : waves * length;
  const Index handing = cut ? 6000 + results : 0;
  const Index sum_bytes = (segments + 1) * call.m * call.n * static_cast<Index>(size_of(call.type));
  const Index adding = segments == 1 ? 0 : 3000 + sum_bytes / 2000;
  const bool alone = blocks == 1 || items <= multiprocessors;
  return steps * (alone ? tile.cycles_alone : tile.cycles) + waves * (800 + results) + handing + adding;
}

struct TileChoice {
  std::size_t tile; ///< index in the list of tiles
  Index segments;   ///< 1: k is not cut at the segments
  Index blocks;     ///< the most blocks on a multiprocessor
  Index cost;
};

/// Returns the cheapest combination of a tile, of k cut at the segments or not, and of one block or more on a
/// multiprocessor. If several cost the same, the function returns the first one.
inline TileChoice choose_tile(std::span<const TileModel> tiles, const GemmCall& call, Index multiprocessors) {
  TileChoice best{0, 1, 1, std::numeric_limits<Index>::max()};
  for (const Index segments : {Index{1}, segments_of(call)})
    for (std::size_t tile = 0; tile < tiles.size(); ++tile)
      for (Index blocks = tiles[tile].blocks; blocks > 0; --blocks)
        if (const Index least = cost(tiles[tile], call, segments, blocks, multiprocessors); least < best.cost)
          best = {tile, segments, blocks, least};
  return best;
}

/// Says whether a chain of such tiles, with k cut at the segments, takes less time than `best`. The segments of a tile
/// that are computed at the same time have to be added one after the other, but only in the first wave: from then on
/// every item comes as late as its place in the chain demands.
inline bool chain_pays(const TileModel& tile, const GemmCall& call, const TileChoice& best, Index multiprocessors) {
  const Index tiles = tile.count(call);
  const Index slots = tile.blocks * multiprocessors;
  const Index segments = segments_of(call);
  const Index waves = ceil_div(tiles * segments, slots);
  constexpr Index link = 12'000; // cycles that adding takes, with the flag, where all do it
  const Index one_item = canonical_segment * tile.cycles;
  const Index chain = std::max(waves * one_item + ceil_div(slots, tiles) * link, segments * link + one_item);
  return segments > 1 && tiles < multiprocessors && waves >= 4 && chain < best.cost;
}

} // namespace tessera::cuda::stream_k
