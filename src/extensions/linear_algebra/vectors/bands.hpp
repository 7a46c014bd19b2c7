#pragma once

/// Sums along the rows of narrow bands, each row's terms one after another, of a few rows at a time: for processors
/// with FMA. Loops by columns would have more to do at the ends of columns than between them.

#include <algorithm>

#include "matrix_vector.hpp"
#include "wide.hpp"

namespace tessera::vectors {

/// The lines of a band: line i has the terms k = i − before … i + after that are within 0 … terms − 1. Elements of k <
/// i begin with term i − before of line i at first_before + i·next, and elements of k > i with term i + 1.
template <class N>
struct Lines {
  const N *first_before, *diagonal, *first_after;
  Index next;
  Index before, after, step_before, step_after;
  Index terms;
  bool conjugates_before, conjugates_diagonal, conjugates_after;
  OnDiagonal on_diagonal;
};

/// Is the band so narrow that its lines are taken one by one?
template <class N>
bool has_few_diagonals(const Columns<const N>& a) {
  constexpr Index few = 32;
  return has_wide() && a.below + a.above < few && a.growth == 0 && a.rows > 0 && a.cols > 0;
}

/// The lines of op(A).
template <class N>
Lines<N> lines_of(const Columns<const N>& a, Form form) {
  const Index before = form.transposed ? a.above : a.below, after = form.transposed ? a.below : a.above;
  const Index step = form.transposed ? 1 : a.step;
  return {a.data - before * step,
          a.data,
          a.data + step,
          a.step + 1,
          before,
          after,
          step,
          step,
          form.transposed ? a.rows : a.cols,
          form.conjugated,
          form.conjugated,
          form.conjugated,
          a.diagonal};
}
/// The lines of a symmetric or Hermitian matrix.
template <class N>
Lines<N> lines_of(const Symmetric<N>& matrix) {
  const Columns<const N>& a = matrix.stored;
  const bool upper = matrix.half == Half::Upper, mirrored = matrix.is_conjugated != matrix.is_hermitian;
  const Index diagonals = upper ? a.above : a.below;
  const Index step_before = upper ? 1 : a.step, step_after = upper ? a.step : 1;
  return {a.data - diagonals * step_before,
          a.data,
          a.data + step_after,
          a.step + 1,
          diagonals,
          diagonals,
          step_before,
          step_after,
          a.cols,
          upper ? mirrored : matrix.is_conjugated,
          matrix.is_conjugated,
          upper ? matrix.is_conjugated : mirrored,
          a.diagonal};
}

#if TESSERA_HAS_WIDE
/// sums[i − begin] := the sum of line i's terms, i = begin … end − 1; each line has one at least. x(k) is x[k].
#define TESSERA_LINES(N)                                                                                         \
  void sum_lines(const Lines<N>& lines, const N* x, Index begin, Index end, N* sums) noexcept;                   \
  /** Solves the triangular system of the lines, of which all terms are before the diagonal, or all after it. */ \
  void solve_lines(const Lines<N>& lines, bool forwards, const Strided<N>& x) noexcept;
TESSERA_LINES(float)
TESSERA_LINES(double)
TESSERA_LINES(ComplexNumber<float>)
TESSERA_LINES(ComplexNumber<double>)
#undef TESSERA_LINES
#else
// Nothing calls these: has_few_diagonals() is false.
template <class N>
void sum_lines(const Lines<N>&, const N*, Index begin, Index end, N* sums) noexcept {
  std::fill_n(sums, end - begin, N{});
}
template <class N>
void solve_lines(const Lines<N>&, bool, const Strided<N>&) noexcept {}
#endif

} // namespace tessera::vectors
