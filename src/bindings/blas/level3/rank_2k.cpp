/// ?syr2k and ?her2k: one triangle of C := alpha·op(A)·op(B)ᵀ + alpha·op(B)·op(A)ᵀ + beta·C, or of
/// C := alpha·op(A)·op(B)ᴴ + conj(alpha)·op(B)·op(A)ᴴ + beta·C with a real beta.

#include <tessera/linear_algebra/syrk.hpp>

#include "call.hpp"

namespace tessera::blas {
namespace {

template <class T>
struct Rank2K {
  bool is_hermitian, is_by_rows; ///< the latter: the caller's matrices are
  std::optional<Triangle> triangle;
  std::optional<Op> op;
  Index n, k;
  T alpha;
  const T* a;
  Index lda;
  const T* b;
  Index ldb;
  T beta;
  T* c;
  Index ldc;

  int wrong() const {
    if (!triangle) return 1;
    if (!op) return 2;
    if (n < 0) return 3;
    if (k < 0) return 4;
    const Index least = std::max<Index>(1, *op == Op::None ? n : k);
    return lda < least ? 7 : ldb < least ? 9 : ldc < std::max<Index>(1, n) ? 12 : 0;
  }
  /// The transpose of A·Bᴴ is Nᴴ·M with M = Aᵀ and N = Bᵀ: so that the first of the two products is the caller's, A and
  /// B of column-major calls change places.
  void run(const Routine& routine) const {
    compute(routine, {n, k}, [&](const SolveOptions& options, detail::Shortage shortage) {
      const T *const first = is_by_rows ? a : b, *const second = is_by_rows ? b : a;
      const Index ld_first = is_by_rows ? lda : ldb, ld_second = is_by_rows ? ldb : lda;
      detail::rank_update<T>({is_hermitian, true, other(*triangle), *update_op<T>(*op, is_hermitian, true), n, k, alpha,
                              first, ld_first, second, ld_second, beta, c, ldc},
                             options, shortage);
    });
  }
};

/// `Scalar` is the type of beta.
template <class T, class Scalar>
void rank_2k(const Routine& routine, const char* uplo, const char* trans, const blas_int* n, const blas_int* k,
             const T* alpha, const T* a, const blas_int* lda, const T* b, const blas_int* ldb, const Scalar* beta, T* c,
             const blas_int* ldc) {
  constexpr bool is_hermitian = !std::is_same_v<T, Scalar>;
  const Integers value(routine);
  const Rank2K<T> product{is_hermitian,
                          false,
                          parse_triangle(*uplo),
                          update_op<T>(parse_op<T>(*trans), is_hermitian, false),
                          value(n),
                          value(k),
                          *alpha,
                          a,
                          value(lda),
                          b,
                          value(ldb),
                          *beta,
                          c,
                          value(ldc)};
  run_fortran(routine, product, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc, letter, letter);
}

template <class T, class Scalar>
void cblas_rank_2k(const Routine& routine, int layout, int uplo, int trans, blas_word n, blas_word k, Passed<T> alpha,
                   Read<T> a, blas_word lda, Read<T> b, blas_word ldb, Passed<Scalar> beta, Written<T> c,
                   blas_word ldc) {
  constexpr bool is_hermitian = !std::is_same_v<T, Scalar>;
  const CblasCall call(routine, layout, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  const auto op = known(trans) ? update_op<T>(op_of<T>(trans), is_hermitian, layout == row_major) : std::nullopt;
  CblasWord trans_is = trans_word(3, trans);
  trans_is.is_known = op.has_value();
  if (call.refuses_words({uplo_word(2, uplo), trans_is})) return;
  const Integers value(routine);
  run_cblas(call, Rank2K<T>{is_hermitian, call.is_by_rows(), call.triangle(uplo), op, value(n), value(k),
                            number<T>(alpha), static_cast<const T*>(a), value(lda), static_cast<const T*>(b),
                            value(ldb), number<Scalar>(beta), static_cast<T*>(c), value(ldc)});
}

} // namespace
} // namespace tessera::blas

#define TESSERA_RANK_2K(T, Scalar, x, X, name, NAME)                                                                  \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##name##_)(                                                                \
      const char* uplo, const char* trans, const blas_int* n, const blas_int* k, const T* alpha, const T* a,          \
      const blas_int* lda, const T* b, const blas_int* ldb, const Scalar* beta, T* c, const blas_int* ldc) {          \
    tessera::blas::rank_2k<T, Scalar>(TESSERA_BLAS_ROUTINE(#X NAME, x##name##_), uplo, trans, n, k, alpha, a, lda, b, \
                                      ldb, beta, c, ldc);                                                             \
  }                                                                                                                   \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_##x##name)(                                                           \
      int layout, int uplo, int trans, blas_word n, blas_word k, tessera::blas::Passed<T> alpha,                      \
      tessera::blas::Read<T> a, blas_word lda, tessera::blas::Read<T> b, blas_word ldb,                               \
      tessera::blas::Passed<Scalar> beta, tessera::blas::Written<T> c, blas_word ldc) {                               \
    tessera::blas::cblas_rank_2k<T, Scalar>(TESSERA_BLAS_ROUTINE("cblas_" #x #name, cblas_##x##name), layout, uplo,   \
                                            trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                        \
  }                                                                                                                   \
  TESSERA_BLAS_SCIPY_NAME(x##name##_);                                                                                \
  TESSERA_BLAS_SCIPY_NAME(cblas_##x##name);

extern "C" {

TESSERA_RANK_2K(float, float, s, S, syr2k, "SYR2K")
TESSERA_RANK_2K(double, double, d, D, syr2k, "SYR2K")
TESSERA_RANK_2K(std::complex<float>, std::complex<float>, c, C, syr2k, "SYR2K")
TESSERA_RANK_2K(std::complex<double>, std::complex<double>, z, Z, syr2k, "SYR2K")
TESSERA_RANK_2K(std::complex<float>, float, c, C, her2k, "HER2K")
TESSERA_RANK_2K(std::complex<double>, double, z, Z, her2k, "HER2K")
}
