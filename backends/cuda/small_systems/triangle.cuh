#pragma once

/// Triangular systems of some columns, by lanes that have a row each. A lane's sum grows by one term when an unknown is
/// found, which all lanes get from the lane that has found it.

#include "cuda/panel/rounded.cuh"

namespace tessera::cuda {

/// The square on the diagonal of a triangle, as one lane sees it.
template <class T>
struct LaneTriangle {
  const T* row;           ///< the lane's number in the square's first column
  int step;               ///< from there to the next column's
  T diagonal;             ///< the lane's number on the diagonal
  int size;               ///< rows; lanes after them have the last one
  bool ascends;           ///< a lower triangle, else an upper one
  bool has_unit_diagonal; ///< then `diagonal` divides nothing
  bool is_needed;         ///< the lane's unknowns are
};

/// Finds x from the right-hand sides and the sums of the terms before. Unless `by_operator`, quotients have no
/// branches, and false is returned where one might be rounded otherwise than the operator rounds it.
template <int lanes, int columns, bool by_operator, class T>
__device__ __forceinline__ bool solve_square(const LaneTriangle<T>& t, int rank, const T (&b)[columns],
                                             const T (&before)[columns], T (&x)[columns]) {
  T sums[columns];
#pragma unroll
  for (int c = 0; c < columns; ++c) sums[c] = before[c], x[c] = 0;
  const Divisor<T> divisor{t.diagonal, T(1) / t.diagonal};
#pragma unroll 2
  for (int i = 0; i < t.size; ++i) {
    const int k = t.ascends ? i : t.size - 1 - i;
    const T factor = t.row[k * t.step];
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const T rest = b[c] - sums[c];
      const T mine = t.has_unit_diagonal ? rest : by_operator ? rest / t.diagonal : quotient(rest, divisor);
      const T found = __shfl_sync(0xffffffff, mine, k, lanes);
      if (rank == k) x[c] = found;
      if (t.ascends ? rank > k : rank < k) sums[c] = fma(factor, found, sums[c]);
    }
  }
  bool is_right = true;
  if (!by_operator && !t.has_unit_diagonal && t.is_needed) {
    is_right = is_moderate(t.diagonal);
#pragma unroll
    for (int c = 0; c < columns; ++c) is_right &= is_quotient(b[c] - sums[c], x[c], t.diagonal);
  }
  return is_right;
}

/// Finds x, with the bits of the operator. All lanes of the warp call it.
template <int lanes, int columns, class T>
__device__ __forceinline__ void solve_square(const LaneTriangle<T>& t, int rank, const T (&b)[columns],
                                             const T (&before)[columns], T (&x)[columns]) {
  if (!__all_sync(0xffffffff, solve_square<lanes, columns, false>(t, rank, b, before, x)))
    solve_square<lanes, columns, true>(t, rank, b, before, x);
}

} // namespace tessera::cuda
