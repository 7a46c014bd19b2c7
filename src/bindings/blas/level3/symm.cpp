/// ?symm and ?hemm: C := alpha·A·B + beta·C or alpha·B·A + beta·C, where A is symmetric or Hermitian.

#include <tessera/linear_algebra/symm.hpp>

#include "call.hpp"

namespace tessera::blas {
namespace {

template <class T>
struct SymmetricProduct {
  bool is_hermitian;
  std::optional<Side> side;
  std::optional<Triangle> triangle;
  Index m, n;
  T alpha;
  const T* a;
  Index lda;
  const T* b;
  Index ldb;
  T beta;
  T* c;
  Index ldc;

  int wrong() const {
    if (!side) return 1;
    if (!triangle) return 2;
    const Index least = std::max<Index>(1, m), order = *side == Side::Left ? m : n;
    return m < 0 ? 3 : n < 0 ? 4 : lda < std::max<Index>(1, order) ? 7 : ldb < least ? 9 : ldc < least ? 12 : 0;
  }
  /// The memory of column-major matrices is their transposes by rows: Cᵀ = alpha·Bᵀ·Aᵀ + beta·Cᵀ, and Aᵀ is symmetric,
  /// or Hermitian.
  void run(const Routine& routine) const {
    compute(routine, {m, n}, [&](const SolveOptions& options, detail::Shortage shortage) {
      detail::symmetric_multiply<T>(
          {is_hermitian, other(*side), other(*triangle), n, m, alpha, a, lda, b, ldb, beta, c, ldc}, options, shortage);
    });
  }
};

template <class T>
void symm(const Routine& routine, bool is_hermitian, const char* side, const char* uplo, const blas_int* m,
          const blas_int* n, const T* alpha, const T* a, const blas_int* lda, const T* b, const blas_int* ldb,
          const T* beta, T* c, const blas_int* ldc) {
  const Integers value(routine);
  const SymmetricProduct<T> product{is_hermitian,
                                    parse_side(*side),
                                    parse_triangle(*uplo),
                                    value(m),
                                    value(n),
                                    *alpha,
                                    a,
                                    value(lda),
                                    b,
                                    value(ldb),
                                    *beta,
                                    c,
                                    value(ldc)};
  run_fortran(routine, product, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, letter, letter);
}

template <class T>
void cblas_symm(const Routine& routine, bool is_hermitian, int layout, int side, int uplo, blas_word m, blas_word n,
                Passed<T> alpha, Read<T> a, blas_word lda, Read<T> b, blas_word ldb, Passed<T> beta, Written<T> c,
                blas_word ldc) {
  const CblasCall call(routine, layout, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
  if (call.refuses_words({side_word(2, side), uplo_word(3, uplo)})) return;
  const Integers value(routine);
  const bool rows = call.is_by_rows();
  run_cblas(call,
            SymmetricProduct<T>{is_hermitian, call.side(side), call.triangle(uplo), value(rows ? n : m),
                                value(rows ? m : n), number<T>(alpha), static_cast<const T*>(a), value(lda),
                                static_cast<const T*>(b), value(ldb), number<T>(beta), static_cast<T*>(c), value(ldc)});
}

} // namespace
} // namespace tessera::blas

#define TESSERA_SYMM(T, x, X, name, NAME, is_hermitian)                                                                \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##name##_)(                                                                 \
      const char* side, const char* uplo, const blas_int* m, const blas_int* n, const T* alpha, const T* a,            \
      const blas_int* lda, const T* b, const blas_int* ldb, const T* beta, T* c, const blas_int* ldc) {                \
    tessera::blas::symm<T>(TESSERA_BLAS_ROUTINE(#X NAME, x##name##_), is_hermitian, side, uplo, m, n, alpha, a, lda,   \
                           b, ldb, beta, c, ldc);                                                                      \
  }                                                                                                                    \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_##x##name)(                                                            \
      int layout, int side, int uplo, blas_word m, blas_word n, tessera::blas::Passed<T> alpha,                        \
      tessera::blas::Read<T> a, blas_word lda, tessera::blas::Read<T> b, blas_word ldb, tessera::blas::Passed<T> beta, \
      tessera::blas::Written<T> c, blas_word ldc) {                                                                    \
    tessera::blas::cblas_symm<T>(TESSERA_BLAS_ROUTINE("cblas_" #x #name, cblas_##x##name), is_hermitian, layout, side, \
                                 uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                                     \
  }                                                                                                                    \
  TESSERA_BLAS_SCIPY_NAME(x##name##_);                                                                                 \
  TESSERA_BLAS_SCIPY_NAME(cblas_##x##name);

extern "C" {

TESSERA_SYMM(float, s, S, symm, "SYMM ", false)
TESSERA_SYMM(double, d, D, symm, "SYMM ", false)
TESSERA_SYMM(std::complex<float>, c, C, symm, "SYMM ", false)
TESSERA_SYMM(std::complex<double>, z, Z, symm, "SYMM ", false)
TESSERA_SYMM(std::complex<float>, c, C, hemm, "HEMM ", true)
TESSERA_SYMM(std::complex<double>, z, Z, hemm, "HEMM ", true)
}
