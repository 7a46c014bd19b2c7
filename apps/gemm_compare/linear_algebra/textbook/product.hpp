#pragma once

/// The product that blocked factorisations are made of.

#include <tessera/types.hpp>

#include "numbers.hpp"

namespace tessera::compare_app::textbook {

/// C := C − A·B, m×n over k terms. Rows of B are subtracted from a row of C, four of them while an element of C is in a
/// register.
template <class T>
void subtract_product(Index m, Index n, Index k, const T* a, Index lda, const T* b, Index ldb, T* c, Index ldc) {
  constexpr Index together = 4;
  for (Index i = 0; i < m; ++i) {
    const T* const row = a + i * lda;
    T* const to = c + i * ldc;
    Index p = 0;
    for (; p + together <= k; p += together) {
      const T a0 = row[p], a1 = row[p + 1], a2 = row[p + 2], a3 = row[p + 3];
      const T *const b0 = b + p * ldb, *const b1 = b0 + ldb, *const b2 = b1 + ldb, *const b3 = b2 + ldb;
      for (Index j = 0; j < n; ++j)
        to[j] -= product(a0, b0[j]) + product(a1, b1[j]) + product(a2, b2[j]) + product(a3, b3[j]);
    }
    for (; p < k; ++p) {
      const T factor = row[p];
      for (Index j = 0; j < n; ++j) to[j] -= product(factor, b[p * ldb + j]);
    }
  }
}

/// Copies the conjugate transpose of a block of `rows` rows and `cols` columns, so that a product reads it by rows.
template <class T>
void copy_conjugate_transpose(Index rows, Index cols, const T* from, Index ld, T* to, Index ld_to) {
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) to[j * ld_to + i] = conjugate(from[i * ld + j]);
}

} // namespace tessera::compare_app::textbook
