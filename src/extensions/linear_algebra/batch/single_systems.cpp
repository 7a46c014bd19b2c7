#include "single_systems.hpp"

#include <algorithm>

#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/lu.hpp>

#include "extensions/linear_algebra/numbers.hpp"

namespace tessera::linear_algebra {
namespace {

/// Does the task need the matrix as it was, or a place for its factors?
bool has_copy(BatchTask task) {
  return task != BatchTask::Lu && task != BatchTask::LuSolve && task != BatchTask::CholeskySolve;
}

} // namespace

template <class T>
SingleSystem<T>::SingleSystem(const Systems<T>& systems, const SolveOptions& options)
    : systems_(systems),
      options_(options),
      copy_(has_copy(systems.task) ? systems.m * systems.n : 1),
      pivots_(static_cast<std::size_t>(systems.n)) {}

/// Copies the matrix, or the transpose's conjugate of one whose upper triangle is read.
template <class T>
void SingleSystem<T>::copy_matrix(Index i) {
  const T* const a = systems_.a.at(i);
  const Index n = systems_.n, lda = systems_.a.ld;
  const bool is_turned = systems_.task == BatchTask::SolvePositive && systems_.triangle == Triangle::Upper;
  for (Index row = 0; row < n; ++row)
    for (Index j = 0; j < n; ++j)
      copy_.get()[row * n + j] = is_turned ? conjugated_if(true, a[j * lda + row]) : a[row * lda + j];
}

template <class T>
Index SingleSystem<T>::factor_lu(T* a, Index lda, Index* pivots) const {
  return 1 + detail::factor_lu(detail::number_type_of<T>, Op::None, systems_.m, systems_.n, a, lda,
                               detail::RowNumbers(pivots), options_);
}

template <class T>
Index SingleSystem<T>::factor_positive(Triangle triangle, T* a, Index lda) const {
  const Index n = systems_.n, done = detail::factor_cholesky(detail::number_type_of<T>, triangle, n, a, lda, options_);
  return done < n ? done + 1 : 0;
}

template <class T>
void SingleSystem<T>::solve_triangle(Triangle triangle, Op op, Diagonal diagonal, const T* t, Index ldt,
                                     Index i) const {
  detail::triangular_solve<T>({.triangle = triangle,
                               .op = op,
                               .diagonal = diagonal,
                               .n = systems_.n,
                               .count = systems_.columns,
                               .t = t,
                               .ldt = ldt,
                               .b = systems_.b.at(i),
                               .ldb = systems_.b.ld},
                              options_);
}

template <class T>
void SingleSystem<T>::exchange_rows(Index i, Index row, Index other) const {
  if (row == other) return;
  T* const b = systems_.b.at(i);
  std::swap_ranges(b + row * systems_.b.ld, b + row * systems_.b.ld + systems_.columns, b + other * systems_.b.ld);
}

template <class T>
void SingleSystem<T>::solve_lu(const T* lu, Index ld, const Index* pivots, Index i) const {
  const Op op = systems_.op;
  if (op == Op::None) {
    for (Index j = 0; j < systems_.n; ++j) exchange_rows(i, j, pivots[j]);
    solve_triangle(Triangle::Lower, op, Diagonal::Unit, lu, ld, i);
    return solve_triangle(Triangle::Upper, op, Diagonal::Stored, lu, ld, i);
  }
  solve_triangle(Triangle::Upper, op, Diagonal::Stored, lu, ld, i);
  solve_triangle(Triangle::Lower, op, Diagonal::Unit, lu, ld, i);
  for (Index j = systems_.n; j-- > 0;) exchange_rows(i, j, pivots[j]);
}

template <class T>
void SingleSystem<T>::solve_positive(Triangle triangle, const T* factor, Index ld, Index i) const {
  const bool is_lower = triangle == Triangle::Lower;
  solve_triangle(triangle, is_lower ? Op::None : Op::ConjugateTranspose, Diagonal::Stored, factor, ld, i);
  solve_triangle(triangle, is_lower ? Op::ConjugateTranspose : Op::None, Diagonal::Stored, factor, ld, i);
}

template <class T>
void SingleSystem<T>::write_identity(Index i) const {
  T* const x = systems_.b.at(i);
  for (Index row = 0; row < systems_.n; ++row) {
    std::fill_n(x + row * systems_.b.ld, systems_.n, T(0));
    x[row * systems_.b.ld + row] = T(1);
  }
}

/// Cholesky's factors, in place. A matrix that has none gets its triangle back.
template <class T>
void SingleSystem<T>::factor_in_place(Index i) {
  copy_matrix(i);
  const Index n = systems_.n, info = factor_positive(systems_.triangle, copy_.get(), n);
  report(i, info);
  if (info != 0) return;
  const bool is_lower = systems_.triangle == Triangle::Lower;
  for (Index row = 0; row < n; ++row)
    std::copy(copy_.get() + row * n + (is_lower ? 0 : row), copy_.get() + row * n + (is_lower ? row + 1 : n),
              systems_.a.at(i) + row * systems_.a.ld + (is_lower ? 0 : row));
}

template <class T>
void SingleSystem<T>::report(Index i, Index info) const {
  if (systems_.info != nullptr) systems_.info[i] = info;
}

template <class T>
void SingleSystem<T>::compute(Index i) {
  const Members<T>& a = systems_.a;
  const Index n = systems_.n;
  Index info = 0;
  switch (systems_.task) {
    case BatchTask::Lu:
      return report(i, factor_lu(a.at(i), a.ld, systems_.pivots + i * systems_.pivot_stride));
    case BatchTask::Cholesky:
      return factor_in_place(i);
    case BatchTask::LuSolve:
      return solve_lu(a.at(i), a.ld, systems_.pivots + i * systems_.pivot_stride, i);
    case BatchTask::CholeskySolve:
      return solve_positive(systems_.triangle, a.at(i), a.ld, i);
    case BatchTask::SolvePositive:
      copy_matrix(i);
      report(i, info = factor_positive(Triangle::Lower, copy_.get(), n));
      if (info == 0) solve_positive(Triangle::Lower, copy_.get(), n, i);
      return;
    case BatchTask::Solve:
    case BatchTask::Inverse:
      copy_matrix(i);
      report(i, info = factor_lu(copy_.get(), n, pivots_.data()));
      if (info != 0) return;
      if (systems_.task == BatchTask::Inverse) write_identity(i);
      solve_lu(copy_.get(), n, pivots_.data(), i);
      return;
    case BatchTask::Copy: // of device memory alone
      return;
  }
}

template class SingleSystem<float>;
template class SingleSystem<double>;
template class SingleSystem<std::complex<float>>;
template class SingleSystem<std::complex<double>>;

} // namespace tessera::linear_algebra
