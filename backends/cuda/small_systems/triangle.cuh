#pragma once

/// Triangular systems of some columns, by lanes that have a row each. A lane's sum grows by one term when an unknown is
/// found, which all lanes get from the lane that has found it.

#include "cuda/panel/number.cuh"

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
  bool is_conjugated;     ///< the triangle has the conjugates of the numbers
  bool is_needed;         ///< the lane's unknowns are

  __device__ __forceinline__ T conjugated(T number) const { return is_conjugated ? conjugate_of(number) : number; }
};

/// What divides by a lane's number on the diagonal.
template <class T>
class LaneDivisor {
 public:
  __device__ explicit LaneDivisor(T d) : divisor_{d, T(1) / d} {}

  /// Divides without a branch.
  __device__ __forceinline__ T divide_fast(T x) const { return quotient(x, divisor_); }
  /// Is what divide_fast() made of x rounded as the operator rounds it?
  __device__ __forceinline__ bool is_right(T x, T fast) const {
    return is_moderate(divisor_.value) & is_quotient(x, fast, divisor_.value);
  }
  __device__ __forceinline__ T divide(T x) const { return x / divisor_.value; }

 private:
  Divisor<T> divisor_;
};
/// Only a divisor that is real has quotients that divide; others multiply.
template <class T>
class LaneDivisor<Complex<T>> {
 public:
  __device__ explicit LaneDivisor(Complex<T> d) : dividing_(d), real_{d.re, T(1) / d.re} {}

  __device__ __forceinline__ Complex<T> divide_fast(const Complex<T>& x) const {
    return dividing_.is_real ? quotient(x, real_) : dividing_.divide_complex(x);
  }
  __device__ __forceinline__ bool is_right(const Complex<T>& x, const Complex<T>& fast) const {
    return !dividing_.is_real || (is_moderate(real_.value) & is_quotient(x, fast, real_.value));
  }
  __device__ __forceinline__ Complex<T> divide(const Complex<T>& x) const { return dividing_.divide(x); }

 private:
  Dividing<Complex<T>> dividing_;
  Divisor<T> real_;
};

/// Finds x from the right-hand sides and the sums of the terms before. Unless `by_operator`, quotients have no
/// branches, and false is returned where one might be rounded otherwise than the operator rounds it.
template <int lanes, int columns, bool by_operator, class T>
__device__ __forceinline__ bool solve_square(const LaneTriangle<T>& t, int rank, const T (&b)[columns],
                                             const T (&before)[columns], T (&x)[columns]) {
  T sums[columns];
#pragma unroll
  for (int c = 0; c < columns; ++c) sums[c] = before[c], x[c] = T{};
  const LaneDivisor<T> divisor(t.conjugated(t.diagonal));
#pragma unroll 2
  for (int i = 0; i < t.size; ++i) {
    const int k = t.ascends ? i : t.size - 1 - i;
    const T factor = t.conjugated(t.row[k * t.step]);
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const T rest = b[c] - sums[c];
      const T mine = t.has_unit_diagonal ? rest : by_operator ? divisor.divide(rest) : divisor.divide_fast(rest);
      const T found = number_of_lane(mine, k, lanes);
      if (rank == k) x[c] = found;
      if (t.ascends ? rank > k : rank < k) sums[c] = multiply_add(factor, found, sums[c]);
    }
  }
  bool is_right = true;
  if (!by_operator && !t.has_unit_diagonal && t.is_needed) {
#pragma unroll
    for (int c = 0; c < columns; ++c) is_right &= divisor.is_right(b[c] - sums[c], x[c]);
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
