#pragma once

#include <tessera/types.hpp>

namespace tessera::cuda {

/// A matrix to read: element (i, j) is data[i * row_stride + j * col_stride]. One of the strides is 1.
template <class T>
struct StridedMatrix {
  const T* data;
  Index row_stride, col_stride;
  Index rows, cols;
};

} // namespace tessera::cuda
