#pragma once

/// How a product of emulated_fp16x3 or scaled_fp16 is computed: by the strict product where k is short, by warps or
/// blocks that split both operands themselves, from packed operands, or with the larger operand read from where it is.
/// A model in microseconds says what is done first. For emulated_fp16x3 it was fitted to an H100
/// (docs/lab/cuda_gemm.md); for scaled_fp16 it follows from that, from counts of operations and bytes. This header
/// holds no device code, so that a test on the host can look at the choices.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <tessera/backend/kernel.hpp>

#include "block_split_plan.hpp"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/copies/strided_matrix.hpp"
#include "segments.hpp"
#include "warp_split_plan.hpp"

namespace tessera::cuda::fp16x3 {

enum class Way { Strict, Split, Packed, Unpacked, Blocks };

/// The plan of a product whose larger operand is read from where it is. The smaller one has panels of `tile_n` rows of
/// op(A), or columns of op(B). If blocks of a cluster share the large operand, each has a panel of its own.
struct UnpackedPlan {
  int tile_n = 32;
  bool shares_large = false;
  int slices = 1; ///< slices of k
};

struct Fp16x3Plan {
  Way way = Way::Strict;
  UnpackedPlan unpacked = {};
  warp_split::WarpSplitPlan split = {};
  block_split::BlockSplitPlan blocks = {};
};

struct Estimate {
  double microseconds;
  UnpackedPlan plan = {};
};

/// The larger operand as it is stored, line by line.
struct LargeOperand {
  const void* data;
  Index lines, length, ld;
  bool along_k;
  bool swapped; ///< it is op(B)

  explicit LargeOperand(const GemmCall& call) : swapped(call.m <= call.n) {
    const bool transposed = (swapped ? call.op_b : call.op_a) == Op::Transpose;
    const Index rows = swapped ? call.n : call.m;
    data = swapped ? call.b : call.a;
    ld = swapped ? call.ldb : call.lda;
    along_k = transposed == swapped;
    lines = along_k ? rows : call.k;
    length = along_k ? call.k : rows;
  }
  /// Says whether the copy engine can read it.
  bool can_be_read(const GemmCall& call) const {
    return lines_are_aligned(data, lines, ld, sizeof(float)) && std::max({call.m, call.n, call.k}) < Index{1} << 30;
  }
};

constexpr int tile_rows = 128;             ///< rows of the large operand that a block has
constexpr int packed_rows = 2 * tile_rows; ///< rows of a cluster's tile of packed operands
constexpr int block_k = 32;                ///< k of a stage

inline double few(const GemmCall& call) { return static_cast<double>(std::min(call.m, call.n)); }
inline double many(const GemmCall& call) { return static_cast<double>(std::max(call.m, call.n)); }
inline Index blocks_of(const GemmCall& call) { return ceil_div<Index>(call.k, block_k); }
/// Returns the number of blocks of a segment of k.
inline Index segment_blocks_of(const GemmCall& call) {
  return detail::emulated_segment_chunks(call.k) * (wgmma::chunk_k / block_k);
}
inline Index segments_of(const GemmCall& call) { return ceil_div<Index>(blocks_of(call), segment_blocks_of(call)); }

/// The microseconds of a stage of 32 k, by the number of terms of an element.
struct StageTimes {
  double packed, packed_beside; ///< of packed operands: of a cluster alone, and more where all run
  double panel_32, panel_64;    ///< where the large operand is read from where it is, by the width of panels
  double panel_128, panel_128_in_rounds;
  double packing_bytes; ///< that packing an element moves
};
inline const StageTimes& stage_times(const GemmCall& call) {
  static constexpr StageTimes two{0.55, 0.3, 0.5, 0.56, 0.885, 1.0, 8}, one{0.24, 0.14, 0.45, 0.47, 0.5, 0.55, 6};
  return call.math == Math::ScaledFp16 ? one : two;
}

/// Estimates the time of the planes of sums of `slices` slices.
inline double planes_time(const GemmCall& call, int slices) {
  const wgmma::SegmentSlices cut{segments_of(call), slices};
  return slices == 1 ? 0 : 4 + static_cast<double>(cut.planes()) * few(call) * many(call) * 8 / 3e6;
}

/// Returns the microseconds in which each of all clusters stores so many results: 16 bytes at a time, or one after the
/// other where C's rows do not begin at multiples of 16 bytes.
inline double storing_time(const GemmCall& call, Index results) {
  const std::size_t row = static_cast<std::size_t>(call.ldc) * size_of(call.result);
  const bool vectors = reinterpret_cast<std::uintptr_t>(call.c) % 16 == 0 && row % 16 == 0;
  return static_cast<double>(results) * (vectors ? 1e-4 : 4e-4);
}

/// Returns what a tile of packed operands takes, in columns: its own, and about 16 more to start. Shared memory, and
/// not the matrix units, limits a tile of fewer than 84 columns.
constexpr Index columns_of_time(int tile_n) { return std::max(tile_n, 84) + 16; }

/// Returns the tile width, of some in ascending order, that is done first when `clusters` run at once.
inline int choose_tile_n(const GemmCall& call, Index clusters, std::initializer_list<int> widths) {
  const Index down = ceil_div<Index>(call.m, packed_rows);
  int chosen = 0;
  Index least = std::numeric_limits<Index>::max();
  for (const int width : widths)
    if (const Index time = ceil_div(down * ceil_div<Index>(call.n, width), clusters) * columns_of_time(width);
        time <= least) {
      least = time;
      chosen = width;
    }
  return chosen;
}

/// Estimates packing both operands and multiplying them. The table has the times of stages of 192 columns.
inline double packed_time(const GemmCall& call, Index multiprocessors) {
  const Index clusters = std::max<Index>(multiprocessors / 2, 1);
  const bool one_term = call.math == Math::ScaledFp16;
  const int columns = one_term ? choose_tile_n(call, clusters, {64, 128, 192}) : 192;
  const double width = static_cast<double>(columns_of_time(columns)) / static_cast<double>(columns_of_time(192));
  const Index tiles = ceil_div<Index>(call.m, packed_rows) * ceil_div<Index>(call.n, columns);
  const auto slices = static_cast<int>(std::clamp<Index>(clusters / tiles, 1, segments_of(call)));
  const Index items = tiles * slices, rounds = items / clusters;
  const double stages = static_cast<double>(blocks_of(call)) / slices;
  const StageTimes& time = stage_times(call);
  const auto round = [&](Index running) {
    return stages * width *
           (time.packed + time.packed_beside * static_cast<double>(running) / static_cast<double>(clusters));
  };
  const double packing = static_cast<double>((call.m + call.n) * call.k) * time.packing_bytes / 2.7e6;
  return 7 + packing + static_cast<double>(rounds) * round(clusters) +
         (items % clusters > 0 ? round(items % clusters) : 0) +
         static_cast<double>(ceil_div(items, clusters)) * storing_time(call, packed_rows * columns) +
         planes_time(call, slices);
}

/// Estimates the time where the larger operand is read from where it is, with the best number of slices.
inline Estimate unpacked_time(const GemmCall& call, Index multiprocessors) {
  const Index clusters = std::max<Index>(multiprocessors / 2, 1), smaller = std::min(call.m, call.n);
  const int tile_n = smaller <= 32 ? 32 : smaller <= 64 ? 64 : 128;
  const Index panels = ceil_div<Index>(smaller, tile_n);
  const Index tiles = ceil_div<Index>(std::max(call.m, call.n), tile_rows);
  const bool shares_large = panels > 1;
  const Index items = shares_large ? tiles * ceil_div<Index>(panels, 2) : ceil_div<Index>(tiles, 2);
  const double memory = many(call) * static_cast<double>(call.k) * 4 / 2.75e6;
  const Index segments = segments_of(call);
  const double storing = storing_time(call, Index{2} * tile_rows * tile_n);
  const StageTimes& of_stage = stage_times(call);
  Estimate best{std::numeric_limits<double>::infinity()};
  for (int slices = 1; slices <= segments; ++slices) {
    const Index stages = std::min(blocks_of(call), ceil_div<Index>(segments, slices) * segment_blocks_of(call));
    const Index rounds = ceil_div<Index>(items * slices, clusters);
    const double stage = tile_n == 32   ? of_stage.panel_32
                         : tile_n == 64 ? of_stage.panel_64
                         : rounds == 1  ? of_stage.panel_128
                                        : of_stage.panel_128_in_rounds;
    const double multiplying = static_cast<double>(rounds * stages) * stage + static_cast<double>(rounds) * storing;
    const double time = 10 + std::max(multiplying, memory) + planes_time(call, slices);
    if (time < best.microseconds) best = {time, {tile_n, shares_large, slices}};
  }
  return best;
}

/// Says whether a product of an emulated mode is the strict product. That depends on k alone, except for empty
/// products.
inline bool is_strict(const GemmCall& call) {
  return call.k <= detail::emulated_strict_k(call.math) || std::min(call.m, call.n) <= 0;
}

/// Returns what few results take by a way on an H200, by its estimate (docs/lab/random_shapes.md). Blocks split the
/// operands where that takes less. Warps keep what takes about as long, since theirs is always a single launch.
inline double share_of_estimate(const GemmCall& call, Way way) {
  if (way == Way::Packed) return call.math == Math::ScaledFp16 ? 0.95 : 0.8;
  return way == Way::Unpacked ? 0.75 : 0.93;
}

/// Chooses what is done first.
inline Fp16x3Plan choose(const GemmCall& call, Index multiprocessors) {
  if (is_strict(call)) return {};
  Fp16x3Plan plan{Way::Packed};
  double least = packed_time(call, multiprocessors);
  if (LargeOperand(call).can_be_read(call))
    if (const Estimate unpacked = unpacked_time(call, multiprocessors); unpacked.microseconds < least) {
      least = unpacked.microseconds;
      plan = {Way::Unpacked, unpacked.plan};
    }
  if (const warp_split::Estimate split = warp_split::best_of(call, multiprocessors); split.microseconds < least) {
    least = split.microseconds;
    plan = {Way::Split, {}, split.plan};
  }
  if (const block_split::Estimate blocks = block_split::best_of(call, multiprocessors);
      blocks.microseconds < least * share_of_estimate(call, plan.way))
    plan = {Way::Blocks, {}, {}, blocks.plan};
  return plan;
}

} // namespace tessera::cuda::fp16x3
