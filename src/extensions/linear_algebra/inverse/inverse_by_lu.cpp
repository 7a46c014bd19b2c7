/// The inverse of a matrix by its factors L and U.

#include <tessera/linear_algebra/inverse.hpp>

#include <algorithm>

#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/host_numbers.hpp"
#include "inverse_model.hpp"

namespace tessera::linear_algebra {
namespace {

/// A holds inv(U) and, below its diagonal, L; it becomes the X of X·L = inv(U). `stored` says how the memory holds A.
template <class T>
void solve_by_l(Op stored, Index n, Block<T> a, T* work, const SolveOptions& options, detail::Shortage shortage) {
  const bool by_rows = stored == Op::None;
  const auto by_formula = [&] { model_solve_by_l(stored, n, a, work); };
  if (options.backend == Backend::Reference) return by_formula();
  const auto blocked = [&] {
    const HostNumbers<T> l(n * n); // all but L is not read
    for (Index i = 0; i < n; ++i) {
      const Index begin = by_rows ? 0 : i + 1, end = by_rows ? i : n;
      if (begin >= end) continue;
      std::copy(a.at(i, begin), a.at(i, end), l.get() + i * n + begin);
      std::fill(a.at(i, begin), a.at(i, end), T(0));
    }
    detail::triangular_solve<T>({.side = by_rows ? Side::Right : Side::Left,
                                 .triangle = by_rows ? Triangle::Lower : Triangle::Upper,
                                 .diagonal = Diagonal::Unit,
                                 .n = n,
                                 .count = n,
                                 .t = l.get(),
                                 .ldt = n,
                                 .b = a.data,
                                 .ldb = a.ld},
                                options, shortage);
  };
  with_or_without_memory(shortage, blocked, by_formula);
}

/// Exchanges columns of A, which the factorisation had exchanged as rows, from the last step to the first.
template <class T>
void put_back(Op stored, Index n, Block<T> a, detail::RowNumbers pivots) {
  if (stored == Op::None) {
    for (Index i = 0; i < n; ++i)
      for (Index j = n - 1; j >= 0; --j) std::swap(*a.at(i, j), *a.at(i, pivots[j]));
    return;
  }
  for (Index j = n - 1; j >= 0; --j)
    if (pivots[j] != j) std::swap_ranges(a.at(j, 0), a.at(j, n), a.at(pivots[j], 0));
}

} // namespace
} // namespace tessera::linear_algebra

namespace tessera::detail {

template <class T>
void invert_by_lu(Op stored, Index n, T* a, Index lda, RowNumbers pivots, T* work, const SolveOptions& options,
                  Shortage shortage) {
  linear_algebra::enter("invert_by_lu", options, [&] {
    if (n == 0) return;
    invert_triangle(stored == Op::None ? Triangle::Upper : Triangle::Lower, Diagonal::Stored, n, a, lda, options,
                    shortage);
    linear_algebra::solve_by_l<T>(stored, n, {a, lda}, work, options, shortage);
    linear_algebra::put_back<T>(stored, n, {a, lda}, pivots);
  });
}

template void invert_by_lu(Op, Index, float*, Index, RowNumbers, float*, const SolveOptions&, Shortage);
template void invert_by_lu(Op, Index, double*, Index, RowNumbers, double*, const SolveOptions&, Shortage);
template void invert_by_lu(Op, Index, std::complex<float>*, Index, RowNumbers, std::complex<float>*,
                           const SolveOptions&, Shortage);
template void invert_by_lu(Op, Index, std::complex<double>*, Index, RowNumbers, std::complex<double>*,
                           const SolveOptions&, Shortage);

} // namespace tessera::detail
