/// ?trtrs of LAPACK: triangular systems.

#include "solve.hpp"

namespace tessera::blas {
namespace {

template <class T>
void trtrs(const Routine& routine, const char* uplo, const char* trans, const char* diag, const blas_int* n_,
           const blas_int* count_, const T* a, const blas_int* lda_, T* b, const blas_int* ldb_, blas_int* info) {
  const Integers value(routine);
  const std::optional<Triangle> triangle = parse_triangle(*uplo);
  const std::optional<Op> op = parse_op<T>(*trans);
  const std::optional<Diagonal> diagonal = parse_diagonal(*diag);
  const Index n = value(n_), count = value(count_), lda = value(lda_), ldb = value(ldb_);
  const Index least = std::max<Index>(1, n);
  int wrong = !triangle ? 1 : !op ? 2 : !diagonal ? 3 : 0;
  if (wrong == 0) wrong = n < 0 ? 4 : count < 0 ? 5 : lda < least ? 7 : ldb < least ? 9 : 0;
  if (wrong != 0)
    return refuse_lapack(routine, wrong, info, uplo, trans, diag, n_, count_, a, lda_, b, ldb_, info, letter, letter,
                         letter);
  value.set(info, 0);
  if (*diagonal == Diagonal::Stored)
    if (const Index zero = first_zero(n, a, lda); zero != 0) return value.set(info, zero); // B stays as it was
  compute(routine, {n, count}, [&](const SolveOptions& options, detail::Shortage shortage) {
    const ColumnTriangle<T> columns{*triangle, *op, *diagonal, n, a, lda};
    detail::triangular_solve(by_columns<T>(Side::Left, columns, count, b, ldb), options, shortage);
  });
}

} // namespace
} // namespace tessera::blas

#define TESSERA_TRTRS(T, x, X)                                                                                         \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##trtrs_)(const char* uplo, const char* trans, const char* diag,            \
                                                     const blas_int* n, const blas_int* nrhs, const T* a,              \
                                                     const blas_int* lda, T* b, const blas_int* ldb, blas_int* info) { \
    tessera::blas::trtrs(TESSERA_BLAS_ROUTINE(#X "TRTRS", x##trtrs_), uplo, trans, diag, n, nrhs, a, lda, b, ldb,      \
                         info);                                                                                        \
  }                                                                                                                    \
  TESSERA_BLAS_SCIPY_NAME(x##trtrs_);

extern "C" {

TESSERA_TRTRS(float, s, S)
TESSERA_TRTRS(double, d, D)
TESSERA_TRTRS(std::complex<float>, c, C)
TESSERA_TRTRS(std::complex<double>, z, Z)
}
