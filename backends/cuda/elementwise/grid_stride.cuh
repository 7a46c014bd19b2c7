#pragma once

/// A grid-stride loop over the elements of a matrix. Elements are counted row by row; a thread starts at its own number
/// and goes on by a fixed stride, usually the number of threads. So neighbouring threads of a warp access neighbouring
/// elements, whatever the matrix's shape.

#include <tessera/types.hpp>

namespace tessera::cuda {

/// The elements to loop over and the stride. The host makes it, so that a thread divides only once.
struct GridStride {
  Index count; ///< Elements of the matrix.
  Index cols;
  Index step;      ///< Elements from one element of a thread to its next one.
  Index step_rows; ///< Whole rows in `step`.
  Index step_cols; ///< Columns in `step` beside its whole rows.

  GridStride(Index rows, Index columns, Index stride)
      : count(rows * columns), cols(columns), step(stride), step_rows(stride / columns), step_cols(stride % columns) {}
};

/// The place of a thread in the matrix. next() moves it to the thread's next element.
struct Walk {
  Index row;
  Index col;

  __device__ Walk(const GridStride& stride, Index first) {
    if (stride.count <= 0xFFFFFFFF) { // A 32-bit division is several times cheaper.
      const unsigned e = static_cast<unsigned>(first);
      const unsigned cols = static_cast<unsigned>(stride.cols);
      row = e / cols;
      col = e % cols;
    } else {
      row = first / stride.cols;
      col = first % stride.cols;
    }
  }
  __device__ void next(const GridStride& stride) {
    row += stride.step_rows;
    col += stride.step_cols;
    if (col >= stride.cols) {
      col -= stride.cols;
      ++row;
    }
  }
};

} // namespace tessera::cuda
