/// ?potrf, ?potrs and ?posv of LAPACK: Cholesky's factors, and systems by them.

#include <tessera/linear_algebra/cholesky.hpp>

#include "extensions/linear_algebra/device/whole_systems.hpp"
#include "solve.hpp"

namespace tessera::blas {
namespace {

/// Factors a column-major matrix. Returns LAPACK's info.
template <class T>
Index factor(Triangle triangle, Index n, T* a, Index lda, const SolveOptions& options, detail::Shortage shortage) {
  const Index done = detail::factor_cholesky(detail::number_type_of<T>, other(triangle), n, a, lda, options, shortage);
  return done < n ? done + 1 : 0;
}

/// Solves L·Lᴴ·X = B, or Uᴴ·U·X = B.
template <class T>
void solve(Triangle triangle, Index n, Index count, const T* a, Index lda, T* b, Index ldb, const SolveOptions& options,
           detail::Shortage shortage) {
  const bool lower = triangle == Triangle::Lower;
  const Op turned = Element<T>::conjugate_transpose;
  const auto call = [&](Op op) {
    return by_columns<T>(Side::Left, {triangle, op, Diagonal::Stored, n, a, lda}, count, b, ldb);
  };
  detail::solve_with_factors<T>({call(lower ? Op::None : turned), call(lower ? turned : Op::None)}, options, shortage);
}

template <class T>
void potrf(const Routine& routine, const char* uplo, const blas_int* n_, T* a, const blas_int* lda_, blas_int* info) {
  const Integers value(routine);
  const std::optional<Triangle> triangle = parse_triangle(*uplo);
  const Index n = value(n_), lda = value(lda_);
  if (const int wrong = wrong_of_triangle(triangle, n, lda); wrong != 0)
    return refuse_lapack(routine, wrong, info, uplo, n_, a, lda_, info, letter);
  value.set(info, 0);
  if (n == 0) return;
  compute(routine, {n, 0}, [&](const SolveOptions& options, detail::Shortage shortage) {
    value.set(info, factor(*triangle, n, a, lda, options, shortage));
  });
}

/// Finds the first wrong argument of potrs and of posv, whose lists are the same.
int wrong_of_system(const std::optional<Triangle>& triangle, Index n, Index count, Index lda, Index ldb) {
  if (!triangle) return 1;
  const Index least = std::max<Index>(1, n);
  return n < 0 ? 2 : count < 0 ? 3 : lda < least ? 5 : ldb < least ? 7 : 0;
}

template <class T>
void potrs(const Routine& routine, const char* uplo, const blas_int* n_, const blas_int* count_, const T* a,
           const blas_int* lda_, T* b, const blas_int* ldb_, blas_int* info) {
  const Integers value(routine);
  const std::optional<Triangle> triangle = parse_triangle(*uplo);
  const Index n = value(n_), count = value(count_), lda = value(lda_), ldb = value(ldb_);
  if (const int wrong = wrong_of_system(triangle, n, count, lda, ldb); wrong != 0)
    return refuse_lapack(routine, wrong, info, uplo, n_, count_, a, lda_, b, ldb_, info, letter);
  value.set(info, 0);
  if (n == 0 || count == 0) return;
  compute(routine, {n, count}, [&](const SolveOptions& options, detail::Shortage shortage) {
    solve(*triangle, n, count, a, lda, b, ldb, options, shortage);
  });
}

template <class T>
void posv(const Routine& routine, const char* uplo, const blas_int* n_, const blas_int* count_, T* a,
          const blas_int* lda_, T* b, const blas_int* ldb_, blas_int* info) {
  const Integers value(routine);
  const std::optional<Triangle> triangle = parse_triangle(*uplo);
  const Index n = value(n_), count = value(count_), lda = value(lda_), ldb = value(ldb_);
  if (const int wrong = wrong_of_system(triangle, n, count, lda, ldb); wrong != 0)
    return refuse_lapack(routine, wrong, info, uplo, n_, count_, a, lda_, b, ldb_, info, letter);
  value.set(info, 0);
  if (n == 0) return;
  compute(routine, {n, count}, [&](const SolveOptions& options, detail::Shortage shortage) {
    if constexpr (!is_complex<T>)
      if (detail::solve_positive_on_device({dtype_of<T>, n, count, a, lda, b, ldb}, *triangle, options))
        return value.set(info, 0);
    const Index failed = factor(*triangle, n, a, lda, options, shortage);
    value.set(info, failed);
    if (failed == 0) solve<T>(*triangle, n, count, a, lda, b, ldb, options, shortage);
  });
}

} // namespace
} // namespace tessera::blas

#define TESSERA_POTRF(T, name, NAME)                                                                            \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(name)(const char* uplo, const blas_int* n, T* a, const blas_int* lda, \
                                                blas_int* info) {                                               \
    tessera::blas::potrf(TESSERA_BLAS_ROUTINE(NAME, name), uplo, n, a, lda, info);                              \
  }                                                                                                             \
  TESSERA_BLAS_SCIPY_NAME(name);
// LAPACK's unblocked form of potrf, and its recursive one, are other names of the same results.
#define TESSERA_CHOLESKY(T, x, X)                                                                                     \
  TESSERA_POTRF(T, x##potrf_, X "POTRF")                                                                              \
  TESSERA_POTRF(T, x##potf2_, X "POTF2")                                                                              \
  TESSERA_POTRF(T, x##potrf2_, X "POTRF2")                                                                            \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##potrs_)(const char* uplo, const blas_int* n, const blas_int* nrhs,       \
                                                     const T* a, const blas_int* lda, T* b, const blas_int* ldb,      \
                                                     blas_int* info) {                                                \
    tessera::blas::potrs(TESSERA_BLAS_ROUTINE(X "POTRS", x##potrs_), uplo, n, nrhs, a, lda, b, ldb, info);            \
  }                                                                                                                   \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##posv_)(const char* uplo, const blas_int* n, const blas_int* nrhs, T* a,  \
                                                    const blas_int* lda, T* b, const blas_int* ldb, blas_int* info) { \
    tessera::blas::posv(TESSERA_BLAS_ROUTINE(X "POSV ", x##posv_), uplo, n, nrhs, a, lda, b, ldb, info);              \
  }                                                                                                                   \
  TESSERA_BLAS_SCIPY_NAME(x##potrs_);                                                                                 \
  TESSERA_BLAS_SCIPY_NAME(x##posv_);

extern "C" {

TESSERA_CHOLESKY(float, s, "S")
TESSERA_CHOLESKY(double, d, "D")
TESSERA_CHOLESKY(std::complex<float>, c, "C")
TESSERA_CHOLESKY(std::complex<double>, z, "Z")
}
