/// Inverses by LAPACK's trtri, lauum, potri and getri, and the unblocked forms trti2 and lauu2, which
/// are other names of the first two.

#include <tessera/linear_algebra/inverse.hpp>

#include "solve.hpp"

namespace tessera::blas {
namespace {

/// Does a zero on the diagonal end the routine, or divide?
enum class Zeros { Refused, Divide };

template <class T>
void trtri(const Routine& routine, Zeros zeros, const char* uplo, const char* diag, const blas_int* n_, T* a,
           const blas_int* lda_, blas_int* info) {
  const Integers value(routine);
  const std::optional<Triangle> triangle = parse_triangle(*uplo);
  const std::optional<Diagonal> diagonal = parse_diagonal(*diag);
  const Index n = value(n_), lda = value(lda_);
  const int wrong = !triangle ? 1 : !diagonal ? 2 : n < 0 ? 3 : lda < std::max<Index>(1, n) ? 5 : 0;
  if (wrong != 0) return refuse_lapack(routine, wrong, info, uplo, diag, n_, a, lda_, info, letter, letter);
  value.set(info, 0);
  if (n == 0) return;
  if (*diagonal == Diagonal::Stored && zeros == Zeros::Refused)
    if (const Index zero = first_zero(n, a, lda); zero != 0) return value.set(info, zero); // A stays as it was
  compute(routine, {n, n}, [&](const SolveOptions& options, detail::Shortage shortage) {
    detail::invert_triangle(other(*triangle), *diagonal, n, a, lda, options, shortage);
  });
}

/// lauum, and potri, which inverts the triangle before.
enum class Purpose { Multiply, Invert };

template <class T>
void lauum(const Routine& routine, Purpose purpose, const char* uplo, const blas_int* n_, T* a, const blas_int* lda_,
           blas_int* info) {
  const Integers value(routine);
  const std::optional<Triangle> triangle = parse_triangle(*uplo);
  const Index n = value(n_), lda = value(lda_);
  if (const int wrong = wrong_of_triangle(triangle, n, lda); wrong != 0)
    return refuse_lapack(routine, wrong, info, uplo, n_, a, lda_, info, letter);
  value.set(info, 0);
  if (n == 0) return;
  if (purpose == Purpose::Invert)
    if (const Index zero = first_zero(n, a, lda); zero != 0) return value.set(info, zero);
  compute(routine, {n, n}, [&](const SolveOptions& options, detail::Shortage shortage) {
    const Triangle stored = other(*triangle);
    if (purpose == Purpose::Invert) detail::invert_triangle(stored, Diagonal::Stored, n, a, lda, options, shortage);
    // M = Uᵀ of the column-major U is lower by rows, and becomes the same triangle of Mᴴ·M, the transpose of U·Uᴴ.
    detail::multiply_by_transpose(stored, n, a, lda, options, shortage);
  });
}

template <class T>
void getri(const Routine& routine, const blas_int* n_, T* a, const blas_int* lda_, const blas_int* ipiv, T* work,
           const blas_int* length_, blas_int* info) {
  const Integers value(routine);
  const Index n = value(n_), lda = value(lda_), length = value(length_), least = std::max<Index>(1, n);
  const bool is_query = length == -1;
  const int wrong = n < 0 ? 1 : lda < least ? 3 : length < least && !is_query ? 6 : 0;
  if (wrong != 0) return refuse_lapack(routine, wrong, info, n_, a, lda_, ipiv, work, length_, info);
  value.set(info, 0);
  if (!is_query && n > 0) {
    if (const Index zero = first_zero(n, a, lda); zero != 0) return value.set(info, zero);
    compute(routine, {n, n}, [&](const SolveOptions& options, detail::Shortage shortage) {
      const detail::RowNumbers pivots(const_cast<blas_int*>(ipiv), value.are_wide()); // which are only read
      detail::invert_by_lu(Op::Transpose, n, a, lda, pivots, work, options, shortage);
    });
  }
  tell_length(work, least);
}

} // namespace
} // namespace tessera::blas

#define TESSERA_TRTRI(T, name, NAME, zeros)                                                                           \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(name)(const char* uplo, const char* diag, const blas_int* n, T* a,          \
                                                const blas_int* lda, blas_int* info) {                                \
    tessera::blas::trtri(TESSERA_BLAS_ROUTINE(NAME, name), tessera::blas::Zeros::zeros, uplo, diag, n, a, lda, info); \
  }                                                                                                                   \
  TESSERA_BLAS_SCIPY_NAME(name);
#define TESSERA_LAUUM(T, name, NAME, purpose)                                                                       \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(name)(const char* uplo, const blas_int* n, T* a, const blas_int* lda,     \
                                                blas_int* info) {                                                   \
    tessera::blas::lauum(TESSERA_BLAS_ROUTINE(NAME, name), tessera::blas::Purpose::purpose, uplo, n, a, lda, info); \
  }                                                                                                                 \
  TESSERA_BLAS_SCIPY_NAME(name);
#define TESSERA_INVERSES(T, x, X)                                                                          \
  TESSERA_TRTRI(T, x##trtri_, X "TRTRI", Refused)                                                          \
  TESSERA_TRTRI(T, x##trti2_, X "TRTI2", Divide)                                                           \
  TESSERA_LAUUM(T, x##lauum_, X "LAUUM", Multiply)                                                         \
  TESSERA_LAUUM(T, x##lauu2_, X "LAUU2", Multiply)                                                         \
  TESSERA_LAUUM(T, x##potri_, X "POTRI", Invert)                                                           \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##getri_)(const blas_int* n, T* a, const blas_int* lda,         \
                                                     const blas_int* ipiv, T* work, const blas_int* lwork, \
                                                     blas_int* info) {                                     \
    tessera::blas::getri(TESSERA_BLAS_ROUTINE(X "GETRI", x##getri_), n, a, lda, ipiv, work, lwork, info);  \
  }                                                                                                        \
  TESSERA_BLAS_SCIPY_NAME(x##getri_);

extern "C" {

TESSERA_INVERSES(float, s, "S")
TESSERA_INVERSES(double, d, "D")
TESSERA_INVERSES(std::complex<float>, c, "C")
TESSERA_INVERSES(std::complex<double>, z, "Z")
}
