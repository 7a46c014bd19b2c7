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

/// Returns the most bytes, up to 16, at whose multiples lines begin that lie from `data` on, `ld` elements of `element`
/// bytes apart.
inline int alignment_of_lines(const void* data, Index lines, Index ld, Index element) noexcept {
  int bytes = 16;
  while (reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(bytes) != 0 ||
         (lines > 1 && ld * element % bytes != 0))
    bytes /= 2;
  return bytes;
}
/// Returns whether the copy engine can read such lines.
inline bool lines_are_aligned(const void* data, Index lines, Index ld, Index element) noexcept {
  return alignment_of_lines(data, lines, ld, element) == 16;
}

} // namespace tessera::cuda
