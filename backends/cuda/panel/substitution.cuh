#pragma once

/// Forward substitution with a few rows, in a thread.

#include "number.cuh"

namespace tessera::cuda {

/// What divides by a number on a diagonal.
template <class T>
struct DiagonalNumber {
  T reciprocal; ///< nearly

  /// Divides y by the number d without a branch, and says whether the quotient is rounded as the operator rounds it.
  __device__ __forceinline__ bool divide_fast(T y, T d, T& x) const {
    x = quotient(y, Divisor<T>{d, reciprocal});
    return is_moderate(d) & is_quotient(y, x, d);
  }
  __device__ __forceinline__ T divide(T y, T d) const { return y / d; }
};
template <class T>
struct DiagonalNumber<Complex<T>> {
  Dividing<Complex<T>> dividing;
  T reciprocal; ///< of the real part

  __device__ __forceinline__ bool divide_fast(const Complex<T>& y, const Complex<T>&, Complex<T>& x) const {
    if (!dividing.is_real) {
      x = dividing.divide_complex(y);
      return true;
    }
    x = quotient(y, Divisor<T>{dividing.real, reciprocal});
    return is_moderate(dividing.real) & is_quotient(y, x, dividing.real);
  }
  __device__ Complex<T> divide(const Complex<T>& y, const Complex<T>&) const { return dividing.divide(y); }
};
template <class T>
__device__ DiagonalNumber<T> diagonal_number(T d) {
  if constexpr (NumberOf<T>::is_complex)
    return {Dividing<T>(d), 1 / d.re};
  else
    return {T(1) / d};
}

/// Finds unknowns from their right-hand sides and the sums of the terms before. Of the triangle, column(c, to) reads
/// column c, diagonal(c) divides by its diagonal's number, and extended(t, x, sum) adds a term. Where `is_checked`,
/// says whether all unknowns are rounded as the operators round them; else uses the operators.
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
    if constexpr (has_unit_diagonal)
      x[c] = y;
    else if constexpr (is_checked)
      is_right &= triangle.diagonal(c).divide_fast(y, column[c], x[c]);
    else
      x[c] = triangle.diagonal(c).divide(y, column[c]);
#pragma unroll
    for (int i = c + 1; i < rows; ++i) sums[i] = Triangle::extended(column[i], x[c], sums[i]);
  }
  return is_right;
}

} // namespace tessera::cuda
