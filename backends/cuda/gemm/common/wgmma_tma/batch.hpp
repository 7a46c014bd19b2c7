#pragma once

/// Batches of 16-bit operands by tensor maps, on Hopper: what the kernel takes, and which tile. The kernel is in
/// wgmma_tma/batch_product.cuh.

#include <algorithm>
#include <cmath>

#include <cuda_runtime_api.h>

#include <tessera/batch.hpp>
#include <tessera/half.hpp>

#include "plan.hpp"

namespace tessera::cuda::tma {

/// Says whether the copy engine can read a group's operands: they are 16-bit operands at strides, whose lines begin at
/// multiples of 16 bytes, as all that it reads has to; so op(A) is stored along k where its rows end anywhere.
inline bool takes_batch(const GemmBatch& group) {
  const GemmCall& call = group.call;
  constexpr Index element = 2, line = 16 / element;
  const auto is_aligned = [&](Index stride) { return stride >= 0 && (group.count == 1 || stride % line == 0); };
  return std::max({call.m, call.n, call.k}) < Index{1} << 30 && is_16_bit(call.type) && !group.has_pointers() &&
         call.epilogue.empty() && (group.ends.data == nullptr || call.op_a == Op::None) && call.k > 0 &&
         call.alpha != 0 && a_is_aligned(call, element) && b_is_aligned(call, element) && is_aligned(group.stride_a) &&
         is_aligned(group.stride_b);
}

/// A tile of a batch and what it costs in cycles, fitted to 805 random batches (docs/lab/batches.md). `start`: to start
/// and end. `tile`: for each tile of a multiprocessor, besides its blocks of k. `alone` and `among_all`: for a block of
/// k where the multiprocessor has the L2 cache to itself, and where all multiprocessors are busy. `split`: how much
/// longer it takes to fetch lines that begin elsewhere than at multiples of 128 bytes.
struct BatchTileModel {
  int m, n;
  Sharing sharing;
  double start, tile, alone, among_all, split;

  constexpr TilingPlan plan() const { return {m, n, sharing, 1, 1}; }
  /// Returns the blocks of a multiprocessor. A product of short k is mostly waiting: one block stores its results while
  /// the other one multiplies. Two blocks of larger tiles find no room for their stages.
  static constexpr int blocks_at_once(int m, int n) { return m * n <= 64 * 64 ? 2 : 1; }
};
constexpr BatchTileModel batch_tiles[]{
    {64, 64, Sharing::Nothing, 12800, 650, 440, 1060, 1.5},
    {64, 128, Sharing::Nothing, 12300, 560, 440, 670, 2.7},
    {128, 64, Sharing::Nothing, 12600, 530, 500, 570, 2.5},
    {128, 128, Sharing::Nothing, 12200, 1040, 600, 815, 2.55},
    {128, 256, Sharing::Nothing, 10400, 3400, 1060, 1640, 1.5},
    {128, 256, Sharing::B, 10800, 2760, 1155, 950, 1.5},
};

/// A group by the numbers that decide its plan.
struct BatchSize {
  ProductSize product; ///< where rows have ends, the m of it are all rows
  Index count;         ///< products that have rows
  bool by_ends;

  static BatchSize of(const GemmBatch& group) {
    const GemmCall& call = group.call;
    const bool by_ends = group.ends.data != nullptr;
    BatchSize size{ProductSize::of(call.m, call.n, call.k, 2), by_ends ? std::min(group.count, call.m) : group.count,
                   by_ends};
    size.product.split_a = call.lda * 2 % 128 != 0;
    size.product.split_b = call.ldb * 2 % 128 != 0;
    return size;
  }

  /// Returns how many tiles of rows×columns results there are. Of products whose rows have ends it is the expected
  /// number where the numbers of rows are distributed exponentially.
  double tiles(Index rows, Index columns) const {
    const auto across = static_cast<double>(ceil_div<Index>(product.n, columns)), products = static_cast<double>(count);
    if (!by_ends) return products * static_cast<double>(ceil_div<Index>(product.m, rows)) * across;
    const double tiles_of_mean = static_cast<double>(product.m) / (products * static_cast<double>(rows));
    return products / (1 - std::exp(-1 / tiles_of_mean)) * across;
  }
  /// Returns the bytes of all operands.
  double bytes() const {
    const auto rows = static_cast<double>(by_ends ? product.m : product.m * count);
    return (rows + static_cast<double>(product.n * count)) * static_cast<double>(product.blocks * 128);
  }
  /// Returns the bytes of all results of 16 bits.
  double result_bytes() const {
    return 2 * static_cast<double>(by_ends ? product.m : product.m * count) * static_cast<double>(product.n);
  }
};

/// Estimates the cycles of a batch with a tile. Memory brings the operands at 1640 bytes a cycle, and at 41 to each
/// multiprocessor.
inline double cost_of(const BatchTileModel& tile, const BatchSize& x, Index multiprocessors) {
  const TilingPlan plan = tile.plan();
  const int at_once = BatchTileModel::blocks_at_once(tile.m, tile.n);
  const Index clusters = multiprocessors * at_once / plan.cluster(); // at once
  const auto slots = static_cast<double>(clusters);
  const double count = std::max(1.0, std::round(x.tiles(plan.cluster_rows(), tile.n)));
  const double fetching =
      128.0 / 80 *
      (tile.m * (x.product.split_a ? tile.split : 1) + plan.own_columns() * (x.product.split_b ? tile.split : 1));
  const auto round = [&](double running) {
    return tile.tile + static_cast<double>(x.product.blocks) *
                           std::max(tile.alone, std::max(tile.among_all, fetching) * running / slots);
  };
  const double whole = std::floor(count / slots), rest = count - whole * slots;
  const double multiplying = whole * round(slots) + (rest > 0 ? round(rest) : 0);
  const double busy = std::min(count, slots) * plan.cluster() / at_once;
  const double reading = x.bytes() / std::min(1640.0, 41 * busy);
  return tile.start + std::max(multiplying, reading) + not_hidden * std::min(multiplying, reading) +
         not_hidden * x.result_bytes() / 1640;
}

/// Returns the plan that takes the least time by the model.
inline TilingPlan choose_batch_plan(const GemmBatch& group, Index multiprocessors) {
  const BatchSize size = BatchSize::of(group);
  TilingPlan best{};
  best.cycles = never;
  for (const BatchTileModel& tile : batch_tiles) {
    const double cycles = cost_of(tile, size, multiprocessors);
    if (cycles >= best.cycles) continue;
    best = tile.plan();
    best.cycles = cycles;
  }
  return best;
}

/// Enqueues a group that takes_batch() takes, as one launch. f16 is multiplied in mode Fp16, and bf16 in Bf16.
Status run_batch_bf16(cudaStream_t stream, const GemmBatch& group, Index multiprocessors) noexcept;
Status run_batch_fp16(cudaStream_t stream, const GemmBatch& group, Index multiprocessors) noexcept;

} // namespace tessera::cuda::tma
