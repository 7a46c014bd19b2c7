/// ?gels of LAPACK: least squares, and solutions of the least norm, by the QR factorisation.

#include <tessera/linear_algebra/qr.hpp>

#include <algorithm>

#include "solve.hpp"

namespace tessera::blas {
namespace {

/// A system op(A)·X = B as a caller of gels describes it. B has max(m, n) rows of memory.
template <class T>
struct LeastSquares {
  Op op;
  Index m, n, count;
  T* a;
  Index lda;
  T* b;
  Index ldb;

  Index steps() const { return std::min(m, n); }
  /// A wide matrix is factored as its transpose, which lies by rows in its memory: these are LAPACK's LQ factors.
  /// Complex factors are the conjugate transpose's, whose memory is conjugated before and after.
  bool is_tall() const { return m >= n; }
  void conjugate_wide() const {
    if (!is_tall()) conjugate_columns(m, n, a, lda);
  }

  /// R·X = B, or Rᴴ·X = B. Returns the number of the first zero on R's diagonal, from 1 on, or 0.
  Index solve_triangle(bool transposed, const SolveOptions& options, detail::Shortage shortage) const {
    for (Index i = 0; i < steps(); ++i)
      if (detail::is_exact_zero(a[i * lda + i])) return i + 1;
    const Op other_op = Element<T>::conjugate_transpose;
    const Op straight = is_tall() ? Op::None : other_op, turned = is_tall() ? other_op : Op::None;
    const ColumnTriangle<T> r{is_tall() ? Triangle::Upper : Triangle::Lower,
                              transposed ? turned : straight,
                              Diagonal::Stored,
                              steps(),
                              a,
                              lda};
    detail::triangular_solve(by_columns<T>(Side::Left, r, count, b, ldb), options, shortage);
    return 0;
  }
  /// Sets the rows of B from `first` on to 0.
  void clear_rows(Index first) const {
    for (Index j = 0; j < count; ++j) std::fill(b + j * ldb + first, b + j * ldb + std::max(m, n), T(0));
  }
  bool is_zero() const {
    for (Index j = 0; j < n; ++j)
      if (!std::all_of(a + j * lda, a + j * lda + m, [](T x) { return detail::is_exact_zero(x); })) return false;
    return true;
  }
  /// Solves the system, whose matrices are brought into the middle of the range first: A then has the factors of a
  /// scaled matrix, as LAPACK leaves it. `tau` has room for steps() numbers. Returns LAPACK's info.
  Index solve_scaled(T* tau, const SolveOptions& options, detail::Shortage shortage) const {
    const Index given = op == Op::None ? m : n, unknowns = op == Op::None ? n : m;
    const int of_a = detail::bring_into_range(n, m, a, lda), of_b = detail::bring_into_range(count, given, b, ldb);
    const Index zero = solve(tau, options, shortage);
    if (zero == 0) detail::multiply_by_power(count, unknowns, b, ldb, of_a - of_b);
    return zero;
  }
  Index solve(T* tau, const SolveOptions& options, detail::Shortage shortage) const {
    const Op stored = is_tall() ? Op::Transpose : Op::None;
    const Index rows = std::max(m, n);
    conjugate_wide();
    detail::factor_qr(detail::number_type_of<T>, stored, rows, steps(), a, lda, tau, options, shortage);
    const auto rotate = [&](Op applied) {
      detail::multiply_q({.type = detail::number_type_of<T>,
                          .stored = stored,
                          .m = rows,
                          .k = steps(),
                          .v = a,
                          .ldv = lda,
                          .tau = tau},
                         applied, Op::Transpose, count, b, ldb, options, shortage);
    };
    const bool has_more_equations = is_tall() == (op == Op::None);
    if (has_more_equations) rotate(Op::Transpose);
    conjugate_wide();
    const Index zero = solve_triangle(!has_more_equations, options, shortage);
    if (zero != 0 || has_more_equations) return zero;
    clear_rows(steps());
    conjugate_wide();
    rotate(Op::None);
    conjugate_wide();
    return 0;
  }
};

template <class T>
void gels(const Routine& routine, const char* trans, const blas_int* m_, const blas_int* n_, const blas_int* count_,
          T* a, const blas_int* lda_, T* b, const blas_int* ldb_, T* work, const blas_int* length_, blas_int* info) {
  const Integers value(routine);
  const std::optional<Op> op = parse_turned<T>(*trans);
  const LeastSquares<T> system{op.value_or(Op::None), value(m_), value(n_),  value(count_), a,
                               value(lda_),           b,         value(ldb_)};
  const Index length = value(length_), steps = system.steps();
  const Index least = std::max<Index>(1, steps + std::max(steps, system.count));
  const int wrong = !op                                                     ? 1
                    : system.m < 0                                          ? 2
                    : system.n < 0                                          ? 3
                    : system.count < 0                                      ? 4
                    : system.lda < std::max<Index>(1, system.m)             ? 6
                    : system.ldb < std::max<Index>({1, system.m, system.n}) ? 8
                    : length != -1 && length < least                        ? 10
                                                                            : 0;
  if (wrong != 0)
    return refuse_lapack(routine, wrong, info, trans, m_, n_, count_, a, lda_, b, ldb_, work, length_, info, letter);
  value.set(info, 0);
  if (length != -1) {
    if (steps == 0 || system.count == 0 || system.is_zero())
      system.clear_rows(0);
    else
      compute(routine, {system.n, system.count}, [&](const SolveOptions& options, detail::Shortage shortage) {
        value.set(info, system.solve_scaled(work, options, shortage));
      });
  }
  tell_length(work, least);
}

} // namespace
} // namespace tessera::blas

#define TESSERA_GELS(T, x, X)                                                                                         \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##gels_)(                                                                  \
      const char* trans, const blas_int* m, const blas_int* n, const blas_int* nrhs, T* a, const blas_int* lda, T* b, \
      const blas_int* ldb, T* work, const blas_int* lwork, blas_int* info) {                                          \
    tessera::blas::gels(TESSERA_BLAS_ROUTINE(#X "GELS ", x##gels_), trans, m, n, nrhs, a, lda, b, ldb, work, lwork,   \
                        info);                                                                                        \
  }                                                                                                                   \
  TESSERA_BLAS_SCIPY_NAME(x##gels_);

extern "C" {

TESSERA_GELS(float, s, S)
TESSERA_GELS(double, d, D)
TESSERA_GELS(std::complex<float>, c, C)
TESSERA_GELS(std::complex<double>, z, Z)
}
