#pragma once

/// Eight columns of Cholesky's factorisation, by one warp without a barrier.
///
/// A thread has a row of the panel, and beside it one of the eight rows on the diagonal: thread i of the warp has row i
/// mod 8. So each warp computes the square of 8×8 for itself, and a column's numbers come by shuffles. Roots are real.

#include "number.cuh"
#include "panel.hpp"

namespace tessera::cuda {

constexpr int positive_group = 8;

/// A row's numbers in a group of columns: elements of A, sums, and what becomes of them.
template <class T>
struct PositiveRow {
  T a[positive_group], s[positive_group], l[positive_group];
};

/// Factors the group. `number` is the row's, counted from the square's first one; rows before it are not touched.
/// Where `is_checked`, returns whether all numbers are rounded as the operators round them, and calls nothing. Else
/// uses the operators, and calls failed(c) where the number under a root is not positive.
template <bool is_checked, class T, class Failed>
__device__ __forceinline__ bool factor_group(PositiveRow<T>& row, PositiveRow<T>& diagonal, int number,
                                             const Failed& failed) {
  using P = PartOf<T>;
  constexpr int size = positive_group;
  const int diagonal_number = static_cast<int>(threadIdx.x) % size;
  bool is_right = true;
  P below_next = real_part_of(diagonal.a[0] - diagonal.s[0]);
#pragma unroll
  for (int c = 0; c < size; ++c) {
    const P below_root = number_of_lane(below_next, c, size);
    const T x = row.a[c] - row.s[c], x_diagonal = diagonal.a[c] - diagonal.s[c];
    P root;
    T l, l_diagonal;
    if constexpr (is_checked) {
      const Divisor<P> by = root_of(below_root);
      root = by.value;
      l_diagonal = quotient(x_diagonal, by);
      l = quotient(x, by);
      is_right &= is_root(below_root, root) & ((number <= c) | is_quotient(x, l, root)) &
                  ((diagonal_number <= c) | is_quotient(x_diagonal, l_diagonal, root));
    } else {
      if (!(below_root > 0)) failed(c);
      root = sqrt(below_root);
      l_diagonal = x_diagonal / root;
      l = x / root;
    }
    if (c + 1 < size) {
      const T sum = multiply_add(l_diagonal, conjugate_of(l_diagonal), diagonal.s[c + 1]);
      below_next = real_part_of(diagonal.a[c + 1] - sum);
    }
    if (number == c) l = real_number<T>(root);
    row.l[c] = l;
#pragma unroll
    for (int k = c + 1; k < size; ++k) {
      const T other = conjugate_of(number_of_lane(l_diagonal, k, size));
      row.s[k] = multiply_add(l, other, row.s[k]);
      diagonal.s[k] = multiply_add(l_diagonal, other, diagonal.s[k]);
    }
  }
  return is_right;
}

} // namespace tessera::cuda
