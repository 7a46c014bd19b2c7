#pragma once

/// The plan of a product by tensor maps: which tile it takes, what the blocks of a cluster share, and whether a block
/// has all segments of k or one of them. The bits do not depend on it. This header holds no device code, so that a test
/// on the host can look at the choices.

#include <algorithm>
#include <limits>

#include <tessera/detail/matrix_unit_segments.hpp>
#include <tessera/types.hpp>

#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/copies/copied_operands.hpp"

namespace tessera::cuda::tma {

/// Describes what the blocks of a cluster share. Nothing: a block fetches what it needs. B: two blocks, one below the
/// other, need the same columns of op(B), and each fetches half of them for both. Results: each block has one segment
/// of k of one tile, and they add their sums.
enum class Sharing { Nothing, B, Results };

struct TilingPlan {
  int tile_m, tile_n;
  Sharing sharing;
  int k_parts;       ///< blocks of a cluster that share results, one for each segment of k; otherwise 1
  int slices;        ///< 1, or one for each segment: it has clusters of its own, and another kernel adds their sums
  double cycles = 0; ///< that the product takes by the model

  /// Says whether each block has one segment of k. Otherwise a block computes all segments of its tiles.
  constexpr bool divides_k() const { return k_parts * slices > 1; }
  /// Returns the number of blocks that depend on one another.
  constexpr int cluster() const { return sharing == Sharing::B ? 2 : k_parts; }
  constexpr int cluster_rows() const { return sharing == Sharing::B ? 2 * tile_m : tile_m; }
  /// Returns the columns that a block fetches, for itself or for both blocks.
  constexpr int own_columns() const { return sharing == Sharing::B ? tile_n / 2 : tile_n; }
  /// Says whether the copy engine stores a tile's results while the next tile is multiplied: where tiles are large, and
  /// there are many.
  constexpr bool sends_boxes() const { return sharing == Sharing::B && tile_n > 192; }
  /// Says whether the sums of a tile's earlier segments wait apart from the total, because registers hold one set of
  /// sums.
  constexpr bool stashes(Index segments) const { return tile_n >= stashed_columns && segments > 1 && !divides_k(); }
  static constexpr int stashed_columns = 224;        ///< the least columns of a tile whose sums fill the registers
  static constexpr Index stashed_on_chip = 32 << 10; ///< bytes of waiting sums in tf32 that are not in memory

  /// Returns the bytes of memory in which sums of a block wait.
  constexpr Index stashed_in_memory(Index segments, bool tf32) const {
    return tf32 && stashes(segments) ? Index{tile_m} * tile_n * 4 - stashed_on_chip : 0;
  }
};

/// A product by the numbers that decide its plan. A block of k has 128 bytes of a line.
struct ProductSize {
  Index m, n;
  Index blocks;         ///< of k
  Index segment_blocks; ///< of each segment but the last one
  /// Do lines of an operand begin elsewhere than at multiples of 128 bytes? A box's lines are then parts of two lines
  /// of the caches each.
  bool split_a = false, split_b = false;
  constexpr Index segments() const { return ceil_div(blocks, segment_blocks); }

  /// Describes a product of elements of `bytes` bytes.
  static constexpr ProductSize of(Index m, Index n, Index k, Index bytes) {
    return {m, n, ceil_div<Index>(k * bytes, 128), detail::matrix_unit_segment_length(k) * bytes / 128};
  }
  constexpr ProductSize transposed() const { return {n, m, blocks, segment_blocks, split_b, split_a}; }
};

/// Lines of 128 bytes that a block fetches, from which on small tiles run in pairs.
constexpr Index paired_lines = 4600;

/// Says whether a plan's blocks share nothing, but are launched as clusters of two that lie below one another: the L2
/// cache is then mostly asked once for what both fetch. That pays where many blocks fetch much. The launch of a cluster
/// takes a microsecond more, which large tiles hide.
constexpr bool runs_in_pairs(const TilingPlan& plan, const ProductSize& x, Index items, Index multiprocessors) {
  if (plan.sharing != Sharing::Nothing) return false;
  if (plan.tile_m * plan.tile_n >= 128 * 128) return items > 1;
  const Index lines = (plan.tile_m + plan.tile_n) * (plan.divides_k() ? x.segment_blocks : x.blocks);
  return 2 * items >= multiprocessors && lines * std::max(items, multiprocessors) >= paired_lines * multiprocessors;
}

/// The blocks that run a plan, and how many of them are launched side by side.
struct Blocks {
  Index count;
  int together;
};
/// Blocks that share results have one tile. Of blocks that are launched in pairs, one may have no tile.
constexpr Blocks blocks_of(const TilingPlan& plan, const ProductSize& x, Index multiprocessors) {
  const Index items = ceil_div<Index>(x.m, plan.cluster_rows()) * ceil_div<Index>(x.n, plan.tile_n) * plan.slices;
  if (plan.sharing == Sharing::Results) return {items * plan.k_parts, plan.k_parts};
  const int together = runs_in_pairs(plan, x, items, multiprocessors) ? 2 : plan.cluster();
  const Index clusters = ceil_div<Index>(items * plan.cluster(), together);
  return {std::clamp<Index>(multiprocessors / together, 1, clusters) * together, together};
}

/// Returns the number of clusters that run at once, with one block on a multiprocessor. Large clusters do not fit
/// everywhere: an H100 holds 66, 39, 30 and 15 clusters of 2, 3, 4 and 8 blocks.
constexpr Index clusters_at_once(Index multiprocessors, Index k_parts) {
  return std::max<Index>((k_parts > 2 ? multiprocessors * 9 / 10 : multiprocessors) / k_parts, 1);
}

/// A tile and what it costs in cycles, fitted to bf16 (docs/lab/matrix_units.md). `start`: to start and end. `beside`:
/// for each block that runs beside it. `block`: for a block of k where the multiprocessor has power to itself.
/// `among_all`: for a block of k where all multiprocessors are busy; `in_pairs`: and where blocks that share nothing
/// run in pairs (docs/lab/random_shapes.md). `slicing`: for the second kernel of slices, or `never` where k may not be
/// sliced. `adding`: to add one more segment. `in_tf32`: the factor in tf32, where an operand passes through registers;
/// 0 where there is no such kernel.
struct TileModel {
  int m, n;
  Sharing sharing;
  int k_parts;
  double start, beside, block, among_all, in_pairs, slicing, adding, in_tf32;

  constexpr TilingPlan plan(Index slices) const { return {m, n, sharing, k_parts, static_cast<int>(slices)}; }
};
constexpr double never = std::numeric_limits<double>::infinity();
constexpr TileModel tiles[]{
    {128, 256, Sharing::B, 1, 5270, 49, 1025, 1025, 1025, 5600, 4800, 1.2},
    {128, 256, Sharing::Nothing, 1, 3730, 45, 900, 1100, 1100, 4000, 1450, 1.5},
    {128, 224, Sharing::B, 1, 5370, 54, 720, 930, 930, 4000, 7300, 0},
    {128, 192, Sharing::B, 1, 4090, 93, 740, 835, 835, never, 930, 0},
    {128, 192, Sharing::Nothing, 1, 4060, 52, 710, 865, 865, 3000, 780, 0},
    {128, 128, Sharing::B, 1, 4740, 39, 560, 680, 680, never, 500, 1.2},
    {64, 128, Sharing::B, 1, 4480, 24, 380, 400, 400, never, 500, 1.4},
    {128, 128, Sharing::Nothing, 1, 3860, 27, 485, 590, 590, 3900, 300, 1.2},
    {128, 64, Sharing::Nothing, 1, 4610, 17, 355, 420, 420, 5100, 500, 1.5},
    {64, 128, Sharing::Nothing, 1, 4330, 17, 345, 470, 365, 2600, 240, 1.5},
    {64, 32, Sharing::Nothing, 1, 4940, 5, 330, 330, 330, 5800, 100, 1.25},
    {64, 64, Sharing::Nothing, 1, 3830, 22, 270, 350, 260, 5400, 280, 1.65},
    {64, 64, Sharing::Results, 2, 7650, 50, 240, 300, 300, never, 0, 1.7},
    {64, 64, Sharing::Results, 4, 6040, 0, 370, 405, 405, never, 0, 1.25},
    {128, 128, Sharing::Results, 2, 8620, 0, 550, 750, 750, never, 0, 0},
    {128, 128, Sharing::Results, 4, 11500, 0, 545, 840, 840, never, 0, 0},
};
/// The part of the shorter one of reading and multiplying that the longer one does not hide.
constexpr double not_hidden = 0.25;

/// Estimates the cycles of `count` tiles in `slices` slices, of which `clusters` run at once; `slower` is the factor of
/// tf32. A block of k takes what its multiprocessor needs, or its part of what all multiprocessors together take, since
/// power is limited. It takes as long as a multiprocessor needs to fetch its operands, at 80 bytes a cycle, of which
/// split lines are half as much again, or twice as much where the blocks of a pair fetch the same ones; and with
/// slices, where few tiles share operands, as long as the L2 cache needs to bring them, at 7000 bytes a cycle. The sums
/// of slices cross that cache twice. Memory brings the operands in `reading` cycles.
inline double cost_of(const TileModel& tile, const ProductSize& x, Index count, Index slices, Index clusters,
                      double slower, double reading) {
  const TilingPlan plan = tile.plan(slices);
  const Index items = count * slices;
  const bool pairs = runs_in_pairs(plan, x, items, clusters);
  const double split = pairs ? 2 : 1.5;
  const double fetching =
      128.0 / 80 * (tile.m * (x.split_a ? split : 1) + plan.own_columns() * (x.split_b ? split : 1));
  const double among_all = pairs ? tile.in_pairs : tile.among_all;
  const auto block_among = [&](Index running) {
    const double busy = slices > 1 ? 1 : static_cast<double>(running) / static_cast<double>(clusters);
    const double panels =
        slices > 1 ? static_cast<double>((tile.m + tile.n) * 128 * running * plan.cluster()) / 7000 : 0;
    return std::max({std::max(tile.block, among_all * busy) * slower, panels, fetching});
  };
  // The results of a tile are stored while the next tile is multiplied.
  const double later = tile.sharing == Sharing::B ? 800 : 660;
  const Index rest = items % clusters, whole = items / clusters, rounds = ceil_div(items, clusters);
  const double each = static_cast<double>(whole) * block_among(clusters) + (rest > 0 ? block_among(rest) : 0);
  const double multiplying = static_cast<double>(plan.divides_k() ? x.segment_blocks : x.blocks) * each;
  const double additions = plan.divides_k() ? 0 : static_cast<double>((x.segments() - 1) * rounds);
  return std::max(multiplying, reading) + not_hidden * std::min(multiplying, reading) + tile.start +
         static_cast<double>(rounds - 1) * later + tile.beside * static_cast<double>(std::min(items, clusters)) +
         additions * tile.adding + (slices > 1 ? tile.slicing + static_cast<double>(x.m * x.n * slices) * 8 / 3000 : 0);
}

/// Returns the cycles in which memory brings `bytes`, at 1640 a cycle, and at 41 to each multiprocessor.
inline double reading_of(const TilingPlan& plan, double bytes, Index items, Index clusters) {
  const auto busy = static_cast<double>(std::min(items, clusters) * plan.cluster());
  return bytes / std::min(1640.0, 41 * busy);
}

/// What the tiles of a plan have to be able to do. Tf32: pass an operand through registers. Columns: store results of
/// Cᵀ from 16-bit operands, which takes registers that wide tiles do not have.
enum class Tiles { All, Tf32, Columns };

constexpr bool has_tile(Tiles wanted, const TileModel& tile) {
  if (wanted == Tiles::Tf32) return tile.in_tf32 > 0;
  return wanted == Tiles::All || tile.n <= 128;
}

/// Returns the plan that is done first, by the model in cycles, among all tiles that are wanted; a block has all
/// segments of k or one of them.
inline TilingPlan choose_plan(const ProductSize& x, Index multiprocessors, Tiles wanted) {
  const auto bytes = static_cast<double>((x.m + x.n) * x.blocks * 128);
  TilingPlan best{};
  double least = never;
  for (const TileModel& tile : tiles) {
    if (!has_tile(wanted, tile) || (tile.k_parts > 1 && tile.k_parts != x.segments())) continue;
    if (tile.n > 2 * std::max<Index>(x.n, 64)) continue; // most of it would be empty
    const TilingPlan whole = tile.plan(1);
    const Index clusters = clusters_at_once(multiprocessors, whole.cluster());
    const Index count = ceil_div<Index>(x.m, whole.cluster_rows()) * ceil_div<Index>(x.n, tile.n);
    if (tile.k_parts > 1 && count > clusters) continue;
    for (const Index slices : {Index{1}, x.segments()}) {
      if (slices > 1 && (tile.slicing == never || count * slices > clusters)) continue;
      const double slower = wanted == Tiles::Tf32 ? tile.in_tf32 : 1;
      const double reading = reading_of(whole, bytes, count * slices, clusters);
      const double cost = cost_of(tile, x, count, slices, clusters, slower, reading);
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

constexpr Index most_rows_of_columns = 128; ///< rows of C that may become columns
/// Blocks of k; if there are fewer, storing Cᵀ takes too large a part of the time, except where C has the fewest rows.
constexpr Index least_blocks_of_columns = 16;

/// Chooses the plan of a product of 16-bit operands. Few rows become columns, where that is not slower by the model:
/// the kernels then have fewer, larger parts of the operand that memory brings.
inline OrientedPlan choose_oriented_plan(const ProductSize& x, Index multiprocessors) {
  const TilingPlan plan = choose_plan(x, multiprocessors, Tiles::All);
  if (x.m > most_rows_of_columns || x.n <= x.m || (x.blocks < least_blocks_of_columns && x.m > widest_few_columns))
    return {plan, false};
  const TilingPlan of_columns = choose_plan(x.transposed(), multiprocessors, Tiles::Columns);
  return of_columns.cycles <= plan.cycles ? OrientedPlan{of_columns, true} : OrientedPlan{plan, false};
}

constexpr Index most_rows_in_sliced_rounds = 64; ///< the slices' sums are then few beside the large operand
/// The part of a plan's cycles that slices in rounds have to save, because the model is not exact.
constexpr double saved_by_rounds = 0.08;

/// Shares the large operand of few rows out in equal parts, where the chosen plan leaves multiprocessors idle and
/// memory is so fast that the others do not use it up (an H200's): returns a plan of columns whose blocks compute
/// several tiles of slices, if it takes clearly less time by this model, or else `chosen`. Memory brings 2400 bytes a
/// cycle, and 21.5 to each multiprocessor, also in the last round.
inline OrientedPlan in_sliced_rounds(const OrientedPlan& chosen, const ProductSize& x, Index multiprocessors) {
  if (x.m > most_rows_in_sliced_rounds || x.n <= x.m || x.segments() == 1 || chosen.plan.divides_k()) return chosen;
  const auto items_of = [](const TilingPlan& plan, const ProductSize& size) {
    return ceil_div<Index>(size.m, plan.cluster_rows()) * ceil_div<Index>(size.n, plan.tile_n) * plan.slices;
  };
  const ProductSize columns = x.transposed(), &now = chosen.swapped ? columns : x;
  if (items_of(chosen.plan, now) * chosen.plan.cluster() >= multiprocessors) return chosen;
  const auto bytes = static_cast<double>((x.m + x.n) * x.blocks * 128);
  const auto cost = [&](const TileModel& tile, const ProductSize& size, Index slices) {
    const TilingPlan plan = tile.plan(slices);
    const Index clusters = clusters_at_once(multiprocessors, plan.cluster()), items = items_of(plan, size);
    const auto reading = [&](Index running) {
      const auto blocks = static_cast<double>(running * plan.cluster());
      const double part = bytes * static_cast<double>(running) / static_cast<double>(items);
      return running == 0 ? 0 : part / std::min(2400.0, 21.5 * blocks);
    };
    const Index rounds = items / clusters;
    return cost_of(tile, size, items / slices, slices, clusters, 1,
                   static_cast<double>(rounds) * reading(clusters) + reading(items % clusters));
  };
  OrientedPlan best = chosen;
  double least = never;
  for (const TileModel& tile : tiles)
    if (const TilingPlan& plan = chosen.plan;
        tile.m == plan.tile_m && tile.n == plan.tile_n && tile.sharing == plan.sharing && tile.k_parts == plan.k_parts)
      least = cost(tile, now, plan.slices) * (1 - saved_by_rounds);
  for (const TileModel& tile : tiles) {
    if (!has_tile(Tiles::Columns, tile) || tile.k_parts > 1 || tile.slicing == never) continue;
    if (tile.n > 2 * std::max<Index>(columns.n, 64)) continue; // most of it would be empty
    const double cycles = cost(tile, columns, x.segments());
    if (cycles >= least) continue;
    least = cycles;
    best = {tile.plan(x.segments()), true};
    best.plan.cycles = cycles;
  }
  return best;
}

constexpr double host_of_copies = 12300; ///< cycles that the host takes for a product with copies

/// Estimates the cycles of a product of elements of `element` bytes, with the copies that it needs. These are a launch
/// of their own, and read and write each operand that is copied. The host is seldom done before `host_of_copies`.
inline double cycles_of(const GemmCall& call, Index element, Index multiprocessors) {
  ProductSize size = ProductSize::of(call.m, call.n, call.k, element);
  const auto splits = [&](Index ld) { return ld * element % 128 != 0; };
  const auto with_copies = [&](double cycles, double launch, Index copied) {
    if (copied == 0) return cycles;
    return std::max(cycles + launch + static_cast<double>(copied * call.k * 2 * element) / 1640, host_of_copies);
  };
  if (element == 2) {
    const bool copies_a = !a_is_aligned(call, element), copies_b = !b_is_aligned(call, element);
    size.split_a = !copies_a && splits(call.lda);
    size.split_b = !copies_b && splits(call.ldb);
    const Index copied = (copies_a ? call.m : 0) + (copies_b ? call.n : 0);
    return with_copies(choose_oriented_plan(size, multiprocessors).plan.cycles, 2200, copied);
  }
  const bool swapped = is_swapped_in_tf32(call);
  // The kernel's second operand has to lie along k.
  const bool copies_a = !a_is_aligned(call, element) || (swapped && call.op_a == Op::Transpose);
  const bool copies_b = !b_is_aligned(call, element) || (!swapped && call.op_b == Op::None);
  size.split_a = !copies_a && splits(call.lda);
  size.split_b = !copies_b && splits(call.ldb);
  const TilingPlan plan = choose_plan(swapped ? size.transposed() : size, multiprocessors, Tiles::Tf32);
  return with_copies(plan.cycles, 4000, (copies_a ? call.m : 0) + (copies_b ? call.n : 0));
}

} // namespace tessera::cuda::tma
