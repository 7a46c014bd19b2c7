#pragma once

/// What the kernel computes: the product, and the tiles that there are.

#include "cuda/gemm/common/panel_ring/block.cuh"
#include "plan.hpp"

namespace tessera::cuda::warp_fma {

template <class T>
struct Product : panel_ring::Shares {
  StridedOperands<T> whole;
};

/// A block's tile: its rows and columns, and the consumer warps down and across that share it. The lanes of a warp are
/// 4 down and 8 across.
template <class T, int m_, int n_, int down_, int across_>
struct BlockTile {
  static constexpr int m = m_, n = n_, down = down_, across = across_;
  static constexpr int consumers = down * across * 32, producers = 128; ///< threads
  static constexpr int threads = consumers + producers;
  static constexpr int rows = m / down, columns = n / across;            ///< of a warp
  static constexpr int lane_rows = rows / 4, lane_columns = columns / 8; ///< results of a lane
  static constexpr int panels = 1, most_stages = 24;
  static constexpr int copiers = producers; ///< threads that copy a stage
  static constexpr int least_stages = 2;
  static constexpr int resident = resident_blocks;
  static constexpr int sum_bytes = m * n * static_cast<int>(sizeof(T));
  static constexpr int vector = 16 / static_cast<int>(sizeof(T)); ///< elements of a vector
  /// Vectors along k that registers hold of each row and column; half of them are read ahead.
  static constexpr int sets = lane_rows + lane_columns < 4 ? 8 : 4;

  /// Bytes of an operand's panel. Lines along k are longer by a vector, so that eight of them lie in different banks.
  static constexpr int line_bytes = depth * static_cast<int>(sizeof(T)) + 16;
  static constexpr int a_bytes = m * line_bytes, stage_bytes = a_bytes + n * line_bytes;
};
template <class T>
using Wide = BlockTile<T, 8, 16, 2, 2>;
template <class T>
using Tall = BlockTile<T, 16, 8, 4, 1>;
template <class T>
using Square = BlockTile<T, 16, 16, 2, 2>;
template <class T> // in f32 alone, as Large
using Flat = BlockTile<T, 16, 32, 2, 2>;
template <class T>
using Large = BlockTile<T, 32, 32, 2, 2>;

} // namespace tessera::cuda::warp_fma
