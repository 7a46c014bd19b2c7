/// sgels_ and dgels_ of LAPACK: least squares, and solutions of the least norm, by the QR factorisation.

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
  bool is_tall() const { return m >= n; }

  /// R·X = B, or Rᵀ·X = B. Returns the number of the first zero on R's diagonal, from 1 on, or 0.
  Index solve_triangle(bool transposed, const SolveOptions& options, detail::Shortage shortage) const {
    for (Index i = 0; i < steps(); ++i)
      if (a[i * lda + i] == 0) return i + 1;
    const Op straight = is_tall() ? Op::None : Op::Transpose, turned = is_tall() ? Op::Transpose : Op::None;
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
      if (!std::all_of(a + j * lda, a + j * lda + m, [](T x) { return x == 0; })) return false;
    return true;
  }
  /// Solves the system; `tau` has room for steps() numbers. Returns LAPACK's info.
  Index solve(T* tau, const SolveOptions& options, detail::Shortage shortage) const {
    const Op stored = is_tall() ? Op::Transpose : Op::None;
    const Index rows = std::max(m, n);
    detail::factor_qr(dtype_of<T>, stored, rows, steps(), a, lda, tau, options, shortage);
    const auto rotate = [&](Op applied) {
      detail::multiply_q(
          {.type = dtype_of<T>, .stored = stored, .m = rows, .k = steps(), .v = a, .ldv = lda, .tau = tau}, applied,
          Op::Transpose, count, b, ldb, options, shortage);
    };
    const bool has_more_equations = is_tall() == (op == Op::None);
    if (has_more_equations) {
      rotate(Op::Transpose);
      return solve_triangle(false, options, shortage);
    }
    if (const Index zero = solve_triangle(true, options, shortage); zero != 0) return zero;
    clear_rows(steps());
    rotate(Op::None);
    return 0;
  }
};

template <class T>
void gels(const Routine& routine, const char* trans, const blas_int* m_, const blas_int* n_, const blas_int* count_,
          T* a, const blas_int* lda_, T* b, const blas_int* ldb_, T* work, const blas_int* length_, blas_int* info) {
  const Integers value(routine);
  const bool none = *trans == 'N' || *trans == 'n', transposed = *trans == 'T' || *trans == 't';
  const LeastSquares<T> system{
      none ? Op::None : Op::Transpose, value(m_), value(n_), value(count_), a, value(lda_), b, value(ldb_)};
  const Index length = value(length_), steps = system.steps();
  const Index least = std::max<Index>(1, steps + std::max(steps, system.count));
  const int wrong = !none && !transposed                                    ? 1
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
        value.set(info, system.solve(work, options, shortage));
      });
  }
  *work = static_cast<T>(least);
}

} // namespace
} // namespace tessera::blas

extern "C" {

TESSERA_BLAS_API void TESSERA_BLAS_NAME(sgels_)(const char* trans, const blas_int* m, const blas_int* n,
                                                const blas_int* nrhs, float* a, const blas_int* lda, float* b,
                                                const blas_int* ldb, float* work, const blas_int* lwork,
                                                blas_int* info) {
  tessera::blas::gels(TESSERA_BLAS_ROUTINE("SGELS ", sgels_), trans, m, n, nrhs, a, lda, b, ldb, work, lwork, info);
}
TESSERA_BLAS_API void TESSERA_BLAS_NAME(dgels_)(const char* trans, const blas_int* m, const blas_int* n,
                                                const blas_int* nrhs, double* a, const blas_int* lda, double* b,
                                                const blas_int* ldb, double* work, const blas_int* lwork,
                                                blas_int* info) {
  tessera::blas::gels(TESSERA_BLAS_ROUTINE("DGELS ", dgels_), trans, m, n, nrhs, a, lda, b, ldb, work, lwork, info);
}

TESSERA_BLAS_SCIPY_NAME(sgels_);
TESSERA_BLAS_SCIPY_NAME(dgels_);
}
