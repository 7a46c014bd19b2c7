#pragma once

/// How threads share out the elements of a matrix: element e, counted row by row, to thread e modulo their number.
/// Neighbours in a warp thus touch neighbours in memory, whatever the shape.

#include <tessera/types.hpp>

namespace tessera::cuda {

/// Elements and the threads that walk over them; made on the host, so that a thread divides only once.
struct GridStride {
  Index count; ///< elements
  Index cols;
  Index step;      ///< elements from one of a thread's to its next
  Index step_rows; ///< the same as whole rows …
  Index step_cols; ///< … and the columns left

  GridStride(Index rows, Index columns, Index stride)
      : count(rows * columns), cols(columns), step(stride), step_rows(stride / columns), step_cols(stride % columns) {}
};

/// One thread's walk.
struct Walk {
  Index row;
  Index col;

  __device__ Walk(const GridStride& stride, Index first) {
    if (stride.count <= 0xFFFFFFFF) { // a 32-bit division is several times cheaper
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
