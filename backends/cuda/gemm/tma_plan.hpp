#pragma once

/// Which tiles, how they are shared out, and how many slices of k a product by tensor maps is done with. Without CUDA.

#include <algorithm>
#include <limits>

#include <tessera/types.hpp>

#include "ceil_div.hpp"

namespace tessera::cuda::tma {

/// What the blocks of a cluster have in common. Two that lie below one another need the same panel of B, two beside one
/// another the same of A; or each has its own part of k, of one tile of 64×64, and they add their sums.
enum class Sharing { B, A, Results };

struct Plan {
  int tile_n;
  Sharing sharing;
  int parts;      ///< blocks of a cluster that share results; else 1
  int slices;     ///< of k, for clusters of their own; their sums are added by another kernel
  bool multicast; ///< each block fetches half of the panel of B for both; else the L2 cache is asked for it twice
};

constexpr Index widest_few_columns = 64; ///< of C; tiles of those have 64 rows

/// Clusters that run at once, a block a multiprocessor: larger ones do not fit everywhere. An H100 holds 66, 39, 30 and
/// 15 of 2, 3, 4 and 8 blocks.
constexpr Index clusters_at_once(Index multiprocessors, Index parts) {
  return std::max<Index>((parts > 2 ? multiprocessors * 9 / 10 : multiprocessors) / parts, 1);
}

/// By a model in cycles, too, but of the memory alone: it brings 1770 bytes a cycle to all multiprocessors and 15 to
/// one of them. `blocks` are stages of 16 KiB.
inline Plan choose_parts(Index m, Index n, Index blocks, Index multiprocessors) {
  Plan best{64, Sharing::Results, 1, 1, false};
  double least = 0;
  const Index tiles = (m + 63) / 64;
  for (const int parts : {1, 2, 3, 4, 8}) {
    const Index clusters = clusters_at_once(multiprocessors, parts);
    if (parts > 1 && (tiles > clusters || parts > blocks)) break;
    const Index most = std::clamp<Index>(clusters / tiles, 1, std::max<Index>(1, blocks / (2 * parts)));
    for (Index slices = 1; slices <= most; ++slices) {
      const Index rounds = (tiles * slices + clusters - 1) / clusters;
      const Index units = parts * slices;
      double cost = std::max(static_cast<double>(rounds * ((blocks + units - 1) / units)) * 1070,
                             static_cast<double>(tiles * blocks) * 16384 / 1770);
      if (parts > 1) cost += 2500;
      if (slices > 1) cost += 5000 + static_cast<double>(m * n * slices) * 8 / 2000;
      if (least == 0 || cost < least) {
        least = cost;
        best = {64, Sharing::Results, parts, static_cast<int>(slices), false};
      }
    }
  }
  return best;
}

/// A tile of 128 rows, and the cycles that it costs: a block of k in a multiprocessor that has power to itself and in
/// one of all that are busy, and its start and end. In tf32 an operand passes through registers, which takes narrow
/// tiles `in_tf32` times as long; 0: there is no such kernel.
struct Tile {
  int n;
  Sharing sharing;
  double block, among_all, start, in_tf32;

  /// Of a cluster.
  Index count(Index m, Index columns) const {
    return sharing == Sharing::A ? ceil_div<Index>(m, 128) * ceil_div<Index>(columns, 2 * n)
                                 : ceil_div<Index>(m, 256) * ceil_div<Index>(columns, n);
  }
};

/// Cycles that `blocks` of k of so many tiles take on so many clusters. A block takes what its multiprocessor needs, or
/// its part of what all of them together do, since power is short; with slices, whose panels few tiles have in common,
/// what the L2 cache needs to bring them, 5900 bytes a cycle. `slower`: all of that, in tf32.
inline double multiplying(const Tile& tile, Index tiles, Index blocks, bool sliced, Index clusters, double slower) {
  const double panels = sliced ? static_cast<double>((128 + tile.n) * 128 * 2 * clusters) / 5900 : 0;
  const auto block_among = [&](Index running) {
    const double part = sliced ? 1 : static_cast<double>(running) / static_cast<double>(clusters);
    return std::max({tile.block, panels, tile.among_all * part}) * slower;
  };
  const Index rest = tiles % clusters;
  const double rounds = static_cast<double>(tiles / clusters) * block_among(clusters);
  return static_cast<double>(blocks) * (rounds + (rest > 0 ? block_among(rest) : 0));
}

/// The same of a product in tiles of 128×128, each by `parts` blocks with a part of k. There are fewer stages then, for
/// the sums that come, and sending these costs 3000 cycles or 4000. Where k is long, adding slices costs no more.
inline double cost_in_parts(Index m, Index n, Index blocks, int parts, Index multiprocessors) {
  constexpr Index longest = 96;
  if (ceil_div<Index>(m, 128) * ceil_div<Index>(n, 128) > clusters_at_once(multiprocessors, parts) ||
      blocks < 2 * parts || blocks > longest)
    return std::numeric_limits<double>::infinity();
  const double each = static_cast<double>(ceil_div<Index>(blocks, parts));
  return parts == 2 ? each * 600 + 8500 : each * 800 + 9500;
}

/// Of 256, 224, 192, 128 and 64 columns (or all but 224 and 192) and every number of slices the combination that is
/// done first on so many multiprocessors, by a model in cycles, fitted to an H200 in bf16. The first tile costs its
/// start and end, each later one less; sums cross the L2 cache twice and are added by one kernel more. Tiles of 128
/// columns lie beside one another, or below where fewer are needed so. Multicast ties two blocks to one another, which
/// costs 1 to 8 %, but saves power where all are busy for long.
inline Plan choose_plan(Index m, Index n, Index blocks, Index multiprocessors, bool all_widths) {
  if (n <= widest_few_columns) return choose_parts(m, n, blocks, multiprocessors);
  const Index clusters = clusters_at_once(multiprocessors, 2);
  // Memory brings 2150 bytes a cycle.
  const double reading = all_widths ? static_cast<double>((m + n) * blocks) * 128 / 2150 : 0;
  Plan best{256, Sharing::B, 1, 1, false};
  double least = std::numeric_limits<double>::infinity();
  if (all_widths)
    for (const int parts : {2, 4})
      if (const double cost = std::max(cost_in_parts(m, n, blocks, parts, multiprocessors), reading); cost < least) {
        least = cost;
        best = {128, Sharing::Results, parts, 1, false};
      }
  for (const Tile& tile : {Tile{256, Sharing::B, 1083, 1298, 6600, 1}, Tile{224, Sharing::B, 955, 1180, 6700, 0},
                           Tile{192, Sharing::B, 820, 1010, 5900, 0}, Tile{128, Sharing::A, 545, 710, 5500, 1.25},
                           Tile{128, Sharing::B, 545, 710, 5500, 1.25}, Tile{64, Sharing::A, 447, 460, 4900, 1.4}}) {
    const double slower = all_widths ? 1 : tile.in_tf32;
    if (slower == 0) continue;
    const Index tiles = tile.count(m, n);
    const Index most = std::clamp<Index>(clusters / tiles, 1, std::max<Index>(1, blocks / 4));
    for (Index slices = 1; slices <= most; ++slices) {
      const bool sliced = slices > 1;
      const Index units = tiles * slices, rounds = ceil_div(units, clusters);
      double cost = std::max(multiplying(tile, units, ceil_div(blocks, slices), sliced, clusters, slower), reading) +
                    tile.start + static_cast<double>(rounds - 1) * 1500 +
                    static_cast<double>(units); // of those that take as long the one that has less to read
      if (sliced) cost += 7000 + static_cast<double>(m * n * slices) * 8 / 2000;
      if (cost < least) {
        least = cost;
        const bool multicast = tile.n == 224 || (tile.n == 256 && (rounds > 1 || sliced));
        best = {tile.n, tile.sharing, 1, static_cast<int>(slices), multicast};
      }
    }
  }
  return best;
}

} // namespace tessera::cuda::tma
