#pragma once

/// Forward substitution with a few rows, in a thread.

#include "rounded.cuh"

namespace tessera::cuda {

/// Finds unknowns from their right-hand sides and the sums of the terms before. Of the triangle, column(c, to) reads
/// column c, and reciprocal(c) is nearly 1 over its diagonal's number. Where `is_checked`, says whether all unknowns
/// are rounded as the operators round them; else uses the operators.
template <bool has_unit_diagonal, bool is_checked, int rows, class T, class Triangle>
__device__ __forceinline__ bool substitute(const Triangle& triangle, const T (&b)[rows], const T (&before)[rows],
                                           T (&x)[rows]) {
  bool is_right = true;
  T sums[rows];
#pragma unroll
  for (int c = 0; c < rows; ++c) sums[c] = before[c];
#pragma unroll
  for (int c = 0; c < rows; ++c) {
    T column[rows];
    triangle.column(c, column);
    const T y = b[c] - sums[c];
    if constexpr (has_unit_diagonal) {
      x[c] = y;
    } else if constexpr (is_checked) {
      x[c] = quotient(y, Divisor<T>{column[c], triangle.reciprocal(c)});
      is_right &= is_moderate(column[c]) & is_quotient(y, x[c], column[c]);
    } else {
      x[c] = y / column[c];
    }
#pragma unroll
    for (int i = c + 1; i < rows; ++i) sums[i] = fma(column[i], x[c], sums[i]);
  }
  return is_right;
}

} // namespace tessera::cuda
