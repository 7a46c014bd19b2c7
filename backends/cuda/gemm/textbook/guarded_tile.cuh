#pragma once

/// Copies tiles from global to shared memory element by element, with padding where a tile reaches over an edge.

#include "cuda/gemm/common/copies/strided_matrix.hpp"
#include "cuda/gemm/common/operands.cuh"

namespace tessera::cuda {

template <class T>
__device__ StridedMatrix<T> a_matrix(const StridedOperands<T>& x) {
  return {x.a, x.a_row, x.a_col, x.m, x.k};
}
template <class T>
__device__ StridedMatrix<T> b_matrix(const StridedOperands<T>& x) {
  return {x.b, x.b_row, x.b_col, x.k, x.n};
}

/// A tile of rows×cols elements in shared memory, whose rows are `pad` elements longer than `cols`.
template <class T, int rows, int cols, int pad = 0>
struct PaddedTile {
  T at[rows][cols + pad];
};

/// Copies the tile of x that starts at (first_row, first_col). Neighbouring threads of a warp read neighbours in
/// memory: they go along the tile's rows, or down its columns if x is stored transposed.
template <int threads, class T, int rows, int cols, int pad>
__device__ void load_tile(PaddedTile<T, rows, cols, pad>& tile, const StridedMatrix<T>& x, Index first_row,
                          Index first_col, T padding) {
  static_assert(rows * cols % threads == 0 && threads % rows == 0 && threads % cols == 0);
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const bool along_row = x.col_stride == 1;
  const int rows_left = static_cast<int>(x.rows - first_row < rows ? x.rows - first_row : rows);
  const int cols_left = static_cast<int>(x.cols - first_col < cols ? x.cols - first_col : cols);
  // The block reads `step` lines of neighbours at once, line by line of memory.
  const int length = along_row ? cols : rows;
  const int step = threads / length;
  const int across = thread % length, across_left = along_row ? cols_left : rows_left;
  const int down = thread / length, down_left = along_row ? rows_left : cols_left;
  const Index stride = along_row ? x.row_stride : x.col_stride;
  const T* const from = x.data + first_row * x.row_stride + first_col * x.col_stride + down * stride + across;
  T* const to = along_row ? &tile.at[down][across] : &tile.at[across][down];
  const int to_step = along_row ? step * (cols + pad) : step;
#pragma unroll
  for (int v = 0; v < rows * cols / threads; ++v) {
    const bool inside = across < across_left && down + v * step < down_left;
    to[v * to_step] = inside ? from[v * step * stride] : padding;
  }
}

} // namespace tessera::cuda
