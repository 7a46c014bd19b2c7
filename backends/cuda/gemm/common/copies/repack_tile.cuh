#pragma once

/// A block's share of a copy to another layout. The rungs that only repack (repack.cu) and the copies for the copy
/// engine share it.

#include <cuda_runtime.h>

#include "strided_matrix.hpp"

namespace tessera::cuda {

constexpr int repack_side = 32; ///< rows and columns of a block's tile
constexpr int repack_down = 8;  ///< rows that a block's threads cover at once
constexpr int repack_threads = repack_side * repack_down;

/// The tile, in shared memory. Its rows are one element longer, so that columns have no bank conflicts.
template <class T>
struct RepackTile {
  T at[repack_side][repack_side + 1];
};

/// Copies tile (`tile_row`, `tile_col`) of x to `out`, which has out_rows×out_cols elements, rows ld elements apart,
/// and has `padding` past the end of x. The tile is read along the rows or the columns of x, whichever are contiguous,
/// and written along the rows of `out`. `column` is the thread's place among the block's columns, and `row` among its
/// rows.
template <class T>
__device__ void repack_tile(const StridedMatrix<T>& x, T* out, Index ld, Index out_rows, Index out_cols, T padding,
                            Index tile_row, Index tile_col, unsigned column, unsigned row, RepackTile<T>& shared) {
  const Index first_row = tile_row * repack_side, first_col = tile_col * repack_side;
  const bool along_row = x.col_stride == 1;
  for (unsigned y = row; y < repack_side; y += repack_down) {
    const unsigned r = along_row ? y : column;
    const unsigned c = along_row ? column : y;
    const bool inside = first_row + r < x.rows && first_col + c < x.cols;
    shared.at[r][c] = inside ? x.data[(first_row + r) * x.row_stride + (first_col + c) * x.col_stride] : padding;
  }
  __syncthreads();
  for (unsigned y = row; y < repack_side; y += repack_down)
    if (first_row + y < out_rows && first_col + column < out_cols)
      out[(first_row + y) * ld + first_col + column] = shared.at[y][column];
}

} // namespace tessera::cuda
