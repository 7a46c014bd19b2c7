#pragma once

/// The plan of a product by tensor maps: which tile it takes, what the blocks of a cluster share, and how many parts
/// and slices k has. This header holds no device code, so that a test on the host can look at the choices.

#include <algorithm>
#include <limits>

#include <tessera/types.hpp>

#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/copies/copied_operands.hpp"

namespace tessera::cuda::tma {

/// Describes what the blocks of a cluster share. Nothing: a block is alone. B: two blocks, one below the other, need
/// the same columns of op(B), and each fetches half of them for both. Results: each block has its own part of k of one
/// tile, and they add their sums.
enum class Sharing { Nothing, B, Results };

struct TilingPlan {
  int tile_m, tile_n;
  Sharing sharing;
  int k_parts;       ///< parts of k: blocks of a cluster that share results, otherwise 1
  int slices;        ///< slices of k; each has clusters of its own, and another kernel adds their sums
  double cycles = 0; ///< that the product takes by the model

  /// Says whether the two consumers of a block take every other block of k, instead of rows or columns of their own.
  constexpr bool consumers_share() const { return sharing == Sharing::Results && tile_n == 64; }
  constexpr int cluster() const { return sharing == Sharing::B ? 2 : k_parts; }
  constexpr int cluster_rows() const { return sharing == Sharing::B ? 2 * tile_m : tile_m; }
  /// Returns the columns that a block fetches, for itself or for both blocks.
  constexpr int own_columns() const { return sharing == Sharing::B ? tile_n / 2 : tile_n; }
  /// Returns the stages that `blocks` blocks of k fill.
  constexpr Index stages(Index blocks) const { return consumers_share() ? ceil_div<Index>(blocks, 2) : blocks; }
};

/// Returns the number of clusters that run at once, with one block on a multiprocessor. Large clusters do not fit
/// everywhere: an H100 holds 66, 39, 30 and 15 clusters of 2, 3, 4 and 8 blocks.
constexpr Index clusters_at_once(Index multiprocessors, Index k_parts) {
  return std::max<Index>((k_parts > 2 ? multiprocessors * 9 / 10 : multiprocessors) / k_parts, 1);
}

/// Plans a product of few columns, by a model in cycles of the memory alone: memory brings 1770 bytes a cycle to all
/// multiprocessors and 15 to one of them. `blocks` are stages of 16 KiB along k.
inline TilingPlan plan_few_columns(Index m, Index n, Index blocks, Index multiprocessors) {
  TilingPlan best{64, 64, Sharing::Results, 1, 1};
  double least = 0;
  const Index tiles = (m + 63) / 64;
  for (const int k_parts : {1, 2, 3, 4, 8}) {
    const Index clusters = clusters_at_once(multiprocessors, k_parts);
    if (k_parts > 1 && (tiles > clusters || k_parts > blocks)) break;
    // With slices enough for three rounds, all multiprocessors have nearly as much to read.
    const Index most = std::clamp<Index>(3 * clusters / tiles, 1, std::max<Index>(1, blocks / (2 * k_parts)));
    for (Index slices = 1; slices <= most; ++slices) {
      const Index rounds = (tiles * slices + clusters - 1) / clusters;
      const Index units = k_parts * slices;
      double cost = std::max(static_cast<double>(rounds * ((blocks + units - 1) / units)) * 1070,
                             static_cast<double>(tiles * blocks) * 16384 / 1770);
      if (k_parts > 1) cost += 2500;
      if (slices > 1) cost += 5000 + static_cast<double>(m * n * slices) * 8 / 2000;
      if (least == 0 || cost < least) {
        least = cost;
        best = {64, 64, Sharing::Results, k_parts, static_cast<int>(slices), cost};
      }
    }
  }
  return best;
}

/// A tile and what it costs in cycles, fitted to bf16 (docs/lab/cuda_gemm.md). `start`: to start and end. `beside`: for
/// each block that runs beside it. `block`: for a block of k where the multiprocessor has power to itself. `among_all`:
/// for a block of k where all multiprocessors are busy. `slicing`: for the second kernel of slices, or `never` where k
/// may not be sliced. `in_tf32`: the factor in tf32, where an operand passes through registers; 0 where there is no
/// such kernel.
struct TileModel {
  int m, n;
  Sharing sharing;
  int k_parts;
  double start, beside, block, among_all, slicing, in_tf32;

  constexpr TilingPlan plan(Index slices) const { return {m, n, sharing, k_parts, static_cast<int>(slices)}; }
};
constexpr double never = std::numeric_limits<double>::infinity();
constexpr TileModel tiles[]{
    {128, 256, Sharing::B, 1, 6400, 58, 1083, 1298, 7000, 1.27},
    {128, 256, Sharing::Nothing, 1, 4950, 47, 1172, 1360, 6900, 1.27},
    {128, 224, Sharing::B, 1, 6080, 53, 980, 1180, 7600, 0},
    {128, 192, Sharing::Nothing, 1, 4100, 36, 845, 1010, 6400, 0},
    {128, 128, Sharing::Nothing, 1, 4350, 29, 600, 710, 7600, 1.45},
    {128, 64, Sharing::Nothing, 1, 3740, 23, 433, 433, 3900, 1.65},
    {64, 128, Sharing::Nothing, 1, 3400, 25, 410, 410, 3900, 1.75},
    {64, 64, Sharing::Results, 1, 5660, 16, 508, 742, never, 1.3}, // a stage holds two blocks of k here
    {64, 64, Sharing::Results, 2, 8300, 5, 610, 610, never, 1.3},
    {128, 128, Sharing::Results, 2, 8500, 0, 600, 600, never, 0},
    {128, 128, Sharing::Results, 4, 9300, 0, 800, 800, never, 0},
};
/// Blocks of k up to which more than two blocks of a cluster, or blocks of small tiles, share results: for a longer k,
/// adding slices costs no more.
constexpr Index longest_cluster_split_k = 96;
/// The part of the shorter one of reading and multiplying that the longer one does not hide.
constexpr double not_hidden = 0.3;

/// Estimates the cycles of `count` tiles of `stages` stages in `slices` slices, of which `clusters` run at once;
/// `slower` is the factor of tf32. A block of k takes what its multiprocessor needs, or its part of what all
/// multiprocessors together take, since power is limited. With slices, few tiles share operands, so it also takes as
/// long as the L2 cache needs to bring them, at 6500 bytes a cycle. The sums of slices cross that cache twice.
/// `reading`: the cycles in which memory brings the operands.
inline double cost_of(const TileModel& tile, Index count, Index results, Index stages, Index slices, Index clusters,
                      double slower, double reading) {
  const Index units = count * slices;
  const auto block_among = [&](Index running) {
    const double busy = slices > 1 ? 1 : static_cast<double>(running) / static_cast<double>(clusters);
    const double panels =
        slices > 1 ? static_cast<double>((tile.m + tile.n) * 128 * running * tile.plan(slices).cluster()) / 6500 : 0;
    return std::max(std::max(tile.block, tile.among_all * busy) * slower, panels);
  };
  // The results of a tile are stored while the next tile is multiplied.
  const double later = tile.sharing == Sharing::B ? 1000 : 1500;
  const Index rest = units % clusters, rounds = ceil_div(units, clusters);
  const double each =
      static_cast<double>(units / clusters) * block_among(clusters) + (rest > 0 ? block_among(rest) : 0);
  const double multiplying = static_cast<double>(ceil_div(stages, slices * tile.k_parts)) * each;
  return std::max(multiplying, reading) + not_hidden * std::min(multiplying, reading) + tile.start +
         static_cast<double>(rounds - 1) * later + tile.beside * static_cast<double>(std::min(units, clusters)) +
         (slices > 1 ? tile.slicing + static_cast<double>(results * slices) * 8 / 3000 : 0);
}

/// What the tiles of a plan have to be able to do. Tf32: pass an operand through registers. Columns: store results of
/// Cᵀ from 16-bit operands, which takes registers that wide tiles do not have.
enum class Tiles { All, Tf32, Columns };

constexpr bool has_tile(Tiles wanted, const TileModel& tile) {
  if (wanted == Tiles::Tf32) return tile.in_tf32 > 0;
  return wanted == Tiles::All || (tile.n <= 128 && tile.sharing != Sharing::B);
}

/// Returns the plan that is done first, by the model in cycles, among all tiles that are wanted and all numbers of
/// slices. Memory brings 2150 bytes a cycle. `blocks` are blocks of k of 128 bytes.
inline TilingPlan choose_plan(Index m, Index n, Index blocks, Index multiprocessors, Tiles wanted) {
  const bool tf32 = wanted == Tiles::Tf32;
  if (n <= widest_few_columns) return plan_few_columns(m, n, ceil_div<Index>(blocks, 2), multiprocessors);
  const double reading = tf32 ? 0 : static_cast<double>((m + n) * blocks) * 128 / 2150;
  TilingPlan best{};
  double least = never;
  for (const TileModel& tile : tiles) {
    if (!has_tile(wanted, tile)) continue;
    const TilingPlan whole = tile.plan(1);
    const Index clusters = clusters_at_once(multiprocessors, whole.cluster());
    const Index stages = whole.stages(blocks);
    const Index count = ceil_div<Index>(m, whole.cluster_rows()) * ceil_div<Index>(n, tile.n);
    if (tile.k_parts > 1 && (count > clusters || stages < 2 * tile.k_parts)) continue;
    if ((tile.k_parts > 2 || (tile.k_parts > 1 && tile.m < 128)) && blocks > longest_cluster_split_k) continue;
    const Index most =
        tile.slicing == never ? 1 : std::clamp<Index>(clusters / count, 1, std::max<Index>(1, blocks / 4));
    for (Index slices = 1; slices <= most; ++slices) {
      const double cost = cost_of(tile, count, m * n, stages, slices, clusters, tf32 ? tile.in_tf32 : 1, reading);
      if (cost < least) {
        least = cost;
        best = tile.plan(slices);
        best.cycles = cost;
      }
    }
  }
  return best;
}

/// A plan, and whether it is one of Cᵀ: the operands change places.
struct OrientedPlan {
  TilingPlan plan;
  bool swapped;
};

constexpr Index most_rows_of_columns = 256; ///< rows of C that may become columns
constexpr Index least_k_of_columns = 1024;  ///< for a shorter k, storing Cᵀ takes too large a part of the time

/// Chooses the plan of a product of 16-bit operands. Few rows become columns, where that is not slower by the model:
/// the kernels then have fewer, larger parts of the operand that memory brings.
inline OrientedPlan choose_oriented_plan(Index m, Index n, Index k, Index multiprocessors) {
  const Index blocks = ceil_div<Index>(k, 64);
  if (m <= widest_few_columns && n > widest_few_columns)
    return {choose_plan(n, m, blocks, multiprocessors, Tiles::Columns), true};
  const TilingPlan plan = choose_plan(m, n, blocks, multiprocessors, Tiles::All);
  if (m > most_rows_of_columns || n <= m || k < least_k_of_columns || n <= widest_few_columns) return {plan, false};
  const TilingPlan of_columns = choose_plan(n, m, blocks, multiprocessors, Tiles::Columns);
  return of_columns.cycles <= plan.cycles ? OrientedPlan{of_columns, true} : OrientedPlan{plan, false};
}

} // namespace tessera::cuda::tma
