#pragma once

/// What the kernel computes: the product, and the tiles that there are.

#include "cuda/gemm/common/panel_ring/block.cuh"
#include "panels.cuh"

namespace tessera::cuda::warp_mma {

struct Product : panel_ring::Shares {
  Index m, n;
  ScaledResult<float, void> to;
  bool narrow; ///< C has the operands' type, not f32
  EpilogueStore<float> epilogue;
};

/// A block's tile: its side, the consumer warps down and across that share it, and the panels of a stage, with 128
/// bytes of k each.
template <int side_, int down_, int across_, int panels_>
struct BlockTile {
  static constexpr int side = side_, m = side, n = side, down = down_, across = across_;
  static constexpr int consumers = down * across * 32, producers = side < 64 ? 256 : 128; ///< threads
  static constexpr int threads = consumers + producers;
  static constexpr int rows = side / down, columns = side / across; ///< of a warp
  static constexpr int fragments_m = rows / 16, fragments_n = columns / 8;
  static constexpr int panels = panels_;
  static constexpr int most_stages = 24 / panels;
  static constexpr int least_stages = side < 64 ? producers / 64 : 2; ///< producers that take turns have one each
  /// Threads that copy a stage. In small tiles they take turns, because waiting for a stage takes them longer than
  /// copying one.
  static constexpr int copiers = side < 64 ? 64 : producers;
  /// Says whether registers hold the fragments of two whole panels, so that a chain never waits for shared memory.
  static constexpr bool holds_panels = fragments_m * fragments_n <= 2;
  /// Says whether the lines of operands may begin anywhere.
  static constexpr bool takes_any_lines = side < 128;
  /// Threads that realign a stage: where they can, a vector of each panel.
  static constexpr int realigners = std::min(producers, side* depth_bytes / panel_ring::vector_bytes);
  static constexpr int resident = side < 128 ? 2 : 1; ///< blocks that registers leave room for
  static constexpr int sum_bytes = side * side * static_cast<int>(sizeof(float));

  /// Returns the bytes of an operand's panel. Shifted lines are longer, by 32 bytes at most, of `side` or 32 lines.
  __host__ __device__ static constexpr int operand_bytes(Lines lines) {
    return side * depth_bytes + (lines == Lines::Shifted ? (side < 32 ? 32 : side) * 32 : 0);
  }
  __host__ __device__ static constexpr int panel_bytes(Lines a, Lines b) { return operand_bytes(a) + operand_bytes(b); }
};
using Large = BlockTile<128, 2, 4, 1>;
using Middle = BlockTile<64, 2, 2, 1>;
using Small = BlockTile<32, 2, 2, 2>;
using Least = BlockTile<16, 1, 1, 2>;

} // namespace tessera::cuda::warp_mma
