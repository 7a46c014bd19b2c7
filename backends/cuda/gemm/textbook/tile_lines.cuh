#pragma once

/// Which vectors of an operand's tile a thread copies, and what it does at the edges. The rungs 11 to 15 have the copy
/// itself.

#include "cuda/gemm/common/tile_loader.cuh"

namespace tessera::cuda {

/// A thread's vectors of tiles of outer×depth elements, one tile after the other along k. A line is what is contiguous
/// in memory.
template <class T, int outer, int depth, int threads, Along along>
struct TileLines {
  static constexpr int width = Vector<T>::width;
  static constexpr int line = (along == Along::K ? depth : outer) / width; ///< vectors of a line
  static constexpr int step = threads / line;                              ///< lines that the block reads at once
  static constexpr int lines = along == Along::K ? outer : depth;
  static constexpr int count = lines / step; ///< vectors of each thread
  static_assert(threads % line == 0 && lines % step == 0 && count > 0);

  __device__ TileLines(const OperandSlice<T>& x, int thread)
      : across(row_order(thread, line).across * width),
        down(row_order(thread, line).down),
        stride(x.stride),
        k(x.k),
        outer_left(x.outer - x.first < outer ? static_cast<int>(x.outer - x.first) : outer),
        padding(x.padding),
        vectors(x.vectors && x.outer - x.first >= outer),
        next(x.data + (along == Along::K ? (x.first + down) * x.stride + across : x.first + down * x.stride + across)) {
  }

  /// The place of vector v in memory, `step` lines after the one before.
  __device__ const T* vector(int v) const { return next + v * step * stride; }
  __device__ void go_to_next_tile() { next += along == Along::K ? depth : depth * stride; }

  /// Reads the vectors of the tile from step k0 on element by element, with padding where it reaches over an edge.
  __device__ void read_edge(Index k0, Vector<T> (&to)[count]) const {
    const int k_left = k - k0 < depth ? static_cast<int>(k - k0) : depth;
    const int across_end = along == Along::K ? k_left : outer_left;
    const int down_end = along == Along::K ? outer_left : k_left;
#pragma unroll
    for (int v = 0; v < count; ++v)
#pragma unroll
      for (int e = 0; e < width; ++e) {
        const bool inside = down + v * step < down_end && across + e < across_end;
        to[v].lane[e] = inside ? next[v * step * stride + e] : padding;
      }
  }

  int across, down; ///< this thread's first vector begins at this element of this line
  Index stride;     ///< from line to line
  Index k;          ///< steps of the operand
  int outer_left;   ///< rows or columns of the tile that exist
  T padding;
  bool vectors;  ///< vectors may be read at once, as far as k goes
  const T* next; ///< this thread's first vector of the next tile
};

} // namespace tessera::cuda
