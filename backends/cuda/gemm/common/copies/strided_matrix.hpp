#pragma once

#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::cuda {

/// A matrix to read: element (i, j) is data[i * row_stride + j * col_stride]. One of the strides is 1.
template <class T>
struct StridedMatrix {
  const T* data;
  Index row_stride, col_stride;
  Index rows, cols;
};

/// Returns whether the copy engine can read lines that begin at `data`, `ld` elements of `element` bytes apart: they
/// begin at multiples of 16 bytes.
inline bool lines_are_aligned(const void* data, Index lines, Index ld, Index element) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && (lines <= 1 || ld * element % 16 == 0);
}

} // namespace tessera::cuda
