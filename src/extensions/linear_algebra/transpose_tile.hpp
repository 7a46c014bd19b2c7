#pragma once

/// Transposes a tile of real or complex numbers.

#include "products.hpp"
#include "transpose.hpp"

namespace tessera::linear_algebra {

/// The edge of a square that is transposed at once, so that it stays in cache.
inline constexpr Index transposed_tile = 32;

/// Writes the transpose of a tile, or the conjugate transpose, to `rows` rows.
template <class T>
void transpose_tile(Index rows, Index cols, bool conjugate, Block<const T> from, Block<T> to) {
  if constexpr (is_complex<T>) {
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) *to.at(i, j) = conjugated_if(conjugate, *from.at(j, i));
  } else {
    transpose_block(cols, rows, from.data, from.ld, to.data, to.ld);
  }
}

} // namespace tessera::linear_algebra
