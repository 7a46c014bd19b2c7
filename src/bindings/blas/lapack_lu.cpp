/// ?getrf, ?getrs and ?gesv of LAPACK: LU with partial pivoting, and systems by it.

#include <tessera/linear_algebra/lu.hpp>

#include "extensions/linear_algebra/device/whole_systems.hpp"
#include "solve.hpp"

namespace tessera::blas {
namespace {

/// Factors a column-major matrix. Returns LAPACK's info.
template <class T>
Index factor(Index m, Index n, T* a, Index lda, detail::RowNumbers pivots, const SolveOptions& options,
             detail::Shortage shortage) {
  return detail::factor_lu(detail::number_type_of<T>, Op::Transpose, m, n, a, lda, pivots, options, shortage) + 1;
}

/// Brings the rows of B, which is column-major, into the order of the pivots, or back.
template <class T>
void permute(Index n, Index count, detail::RowNumbers pivots, bool back, T* b, Index ldb) {
  for (Index column = 0; column < count; ++column)
    for (Index step = 0; step < n; ++step) {
      const Index j = back ? n - 1 - step : step;
      std::swap(b[column * ldb + j], b[column * ldb + pivots[j]]);
    }
}

/// Solves A·X = B, Aᵀ·X = B or Aᴴ·X = B by the factors.
template <class T>
void solve(Op op, Index n, Index count, const T* lu, Index ld, detail::RowNumbers pivots, T* b, Index ldb,
           const SolveOptions& options, detail::Shortage shortage) {
  const ColumnTriangle<T> l{Triangle::Lower, op, Diagonal::Unit, n, lu, ld};
  const ColumnTriangle<T> u{Triangle::Upper, op, Diagonal::Stored, n, lu, ld};
  if (op == Op::None) permute(n, count, pivots, false, b, ldb);
  const auto call = [&](const ColumnTriangle<T>& triangle) {
    return by_columns<T>(Side::Left, triangle, count, b, ldb);
  };
  detail::solve_with_factors<T>({call(op == Op::None ? l : u), call(op == Op::None ? u : l)}, options, shortage);
  if (op != Op::None) permute(n, count, pivots, true, b, ldb);
}

template <class T>
void getrf(const Routine& routine, const blas_int* m_, const blas_int* n_, T* a, const blas_int* lda_, blas_int* ipiv,
           blas_int* info) {
  const Integers value(routine);
  const Index m = value(m_), n = value(n_), lda = value(lda_);
  const int wrong = m < 0 ? 1 : n < 0 ? 2 : lda < std::max<Index>(1, m) ? 4 : 0;
  if (wrong != 0) return refuse_lapack(routine, wrong, info, m_, n_, a, lda_, ipiv, info);
  value.set(info, 0);
  if (m == 0 || n == 0) return;
  compute(routine, {m, n}, [&](const SolveOptions& options, detail::Shortage shortage) {
    value.set(info, factor(m, n, a, lda, {ipiv, value.are_wide()}, options, shortage));
  });
}

template <class T>
void getrs(const Routine& routine, const char* trans, const blas_int* n_, const blas_int* count_, const T* a,
           const blas_int* lda_, const blas_int* ipiv, T* b, const blas_int* ldb_, blas_int* info) {
  const Integers value(routine);
  const std::optional<Op> op = parse_op<T>(*trans);
  const Index n = value(n_), count = value(count_), lda = value(lda_), ldb = value(ldb_);
  const Index least = std::max<Index>(1, n);
  const int wrong = !op ? 1 : n < 0 ? 2 : count < 0 ? 3 : lda < least ? 5 : ldb < least ? 8 : 0;
  if (wrong != 0) return refuse_lapack(routine, wrong, info, trans, n_, count_, a, lda_, ipiv, b, ldb_, info, letter);
  value.set(info, 0);
  if (n == 0 || count == 0) return;
  compute(routine, {n, count}, [&](const SolveOptions& options, detail::Shortage shortage) {
    const detail::RowNumbers pivots(const_cast<blas_int*>(ipiv), value.are_wide()); // which are only read
    solve(*op, n, count, a, lda, pivots, b, ldb, options, shortage);
  });
}

template <class T>
void gesv(const Routine& routine, const blas_int* n_, const blas_int* count_, T* a, const blas_int* lda_,
          blas_int* ipiv, T* b, const blas_int* ldb_, blas_int* info) {
  const Integers value(routine);
  const Index n = value(n_), count = value(count_), lda = value(lda_), ldb = value(ldb_);
  const Index least = std::max<Index>(1, n);
  const int wrong = n < 0 ? 1 : count < 0 ? 2 : lda < least ? 4 : ldb < least ? 7 : 0;
  if (wrong != 0) return refuse_lapack(routine, wrong, info, n_, count_, a, lda_, ipiv, b, ldb_, info);
  value.set(info, 0);
  if (n == 0) return;
  compute(routine, {n, count}, [&](const SolveOptions& options, detail::Shortage shortage) {
    const detail::RowNumbers pivots(ipiv, value.are_wide());
    if constexpr (!is_complex<T>)
      if (const auto found = detail::solve_on_device({dtype_of<T>, n, count, a, lda, b, ldb}, pivots, options))
        return value.set(info, *found + 1);
    const Index singular = factor(n, n, a, lda, pivots, options, shortage);
    value.set(info, singular);
    if (singular == 0) solve<T>(Op::None, n, count, a, lda, pivots, b, ldb, options, shortage);
  });
}

} // namespace
} // namespace tessera::blas

#define TESSERA_GETRF(T, name, NAME)                                                                             \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(name)(const blas_int* m, const blas_int* n, T* a, const blas_int* lda, \
                                                blas_int* ipiv, blas_int* info) {                                \
    tessera::blas::getrf(TESSERA_BLAS_ROUTINE(NAME, name), m, n, a, lda, ipiv, info);                            \
  }                                                                                                              \
  TESSERA_BLAS_SCIPY_NAME(name);
// LAPACK's unblocked form of getrf, and its recursive one, are other names of the same results.
#define TESSERA_LU(T, x, X)                                                                                         \
  TESSERA_GETRF(T, x##getrf_, X "GETRF")                                                                            \
  TESSERA_GETRF(T, x##getf2_, X "GETF2")                                                                            \
  TESSERA_GETRF(T, x##getrf2_, X "GETRF2")                                                                          \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##getrs_)(const char* trans, const blas_int* n, const blas_int* nrhs,    \
                                                     const T* a, const blas_int* lda, const blas_int* ipiv, T* b,   \
                                                     const blas_int* ldb, blas_int* info) {                         \
    tessera::blas::getrs(TESSERA_BLAS_ROUTINE(X "GETRS", x##getrs_), trans, n, nrhs, a, lda, ipiv, b, ldb, info);   \
  }                                                                                                                 \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##gesv_)(const blas_int* n, const blas_int* nrhs, T* a,                  \
                                                    const blas_int* lda, blas_int* ipiv, T* b, const blas_int* ldb, \
                                                    blas_int* info) {                                               \
    tessera::blas::gesv(TESSERA_BLAS_ROUTINE(X "GESV ", x##gesv_), n, nrhs, a, lda, ipiv, b, ldb, info);            \
  }                                                                                                                 \
  TESSERA_BLAS_SCIPY_NAME(x##getrs_);                                                                               \
  TESSERA_BLAS_SCIPY_NAME(x##gesv_);

extern "C" {

TESSERA_LU(float, s, "S")
TESSERA_LU(double, d, "D")
TESSERA_LU(std::complex<float>, c, "C")
TESSERA_LU(std::complex<double>, z, "Z")
}
