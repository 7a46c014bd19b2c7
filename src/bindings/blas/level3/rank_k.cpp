/// ?syrk and ?herk: one triangle of C := alpha·op(A)·op(A)ᵀ + beta·C, or of C := alpha·op(A)·op(A)ᴴ + beta·C with real
/// factors.

#include <tessera/linear_algebra/syrk.hpp>

#include "call.hpp"

namespace tessera::blas {
namespace {

template <class T>
struct RankK {
  bool is_hermitian;
  std::optional<Triangle> triangle;
  std::optional<Op> op;
  Index n, k;
  T alpha;
  const T* a;
  Index lda;
  T beta;
  T* c;
  Index ldc;

  int wrong() const {
    if (!triangle) return 1;
    if (!op) return 2;
    const Index length = *op == Op::None ? n : k;
    return n < 0 ? 3 : k < 0 ? 4 : lda < std::max<Index>(1, length) ? 7 : ldc < std::max<Index>(1, n) ? 10 : 0;
  }
  /// With M = Aᵀ, which is A's memory by rows, A·Aᴴ is the transpose of Mᴴ·M.
  void run(const Routine& routine) const {
    compute(routine, {n, k}, [&](const SolveOptions& options, detail::Shortage shortage) {
      const Op by_rows = *update_op<T>(*op, is_hermitian, true);
      detail::rank_update<T>(
          {is_hermitian, false, other(*triangle), by_rows, n, k, alpha, a, lda, nullptr, 1, beta, c, ldc}, options,
          shortage);
    });
  }
};

/// `Scalar` is the type of alpha and beta.
template <class T, class Scalar>
void rank_k(const Routine& routine, const char* uplo, const char* trans, const blas_int* n, const blas_int* k,
            const Scalar* alpha, const T* a, const blas_int* lda, const Scalar* beta, T* c, const blas_int* ldc) {
  constexpr bool is_hermitian = !std::is_same_v<T, Scalar>;
  const Integers value(routine);
  const RankK<T> product{is_hermitian,
                         parse_triangle(*uplo),
                         update_op<T>(parse_op<T>(*trans), is_hermitian, false),
                         value(n),
                         value(k),
                         *alpha,
                         a,
                         value(lda),
                         *beta,
                         c,
                         value(ldc)};
  run_fortran(routine, product, uplo, trans, n, k, alpha, a, lda, beta, c, ldc, letter, letter);
}

template <class T, class Scalar>
void cblas_rank_k(const Routine& routine, int layout, int uplo, int trans, blas_word n, blas_word k,
                  Passed<Scalar> alpha, Read<T> a, blas_word lda, Passed<Scalar> beta, Written<T> c, blas_word ldc) {
  constexpr bool is_hermitian = !std::is_same_v<T, Scalar>;
  const CblasCall call(routine, layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
  const auto op = known(trans) ? update_op<T>(op_of<T>(trans), is_hermitian, layout == row_major) : std::nullopt;
  CblasWord trans_is = trans_word(3, trans);
  trans_is.is_known = op.has_value();
  if (call.refuses_words({uplo_word(2, uplo), trans_is})) return;
  const Integers value(routine);
  run_cblas(call, RankK<T>{is_hermitian, call.triangle(uplo), op, value(n), value(k), number<Scalar>(alpha),
                           static_cast<const T*>(a), value(lda), number<Scalar>(beta), static_cast<T*>(c), value(ldc)});
}

} // namespace
} // namespace tessera::blas

#define TESSERA_RANK_K(T, Scalar, x, X, name, NAME)                                                                \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##name##_)(                                                             \
      const char* uplo, const char* trans, const blas_int* n, const blas_int* k, const Scalar* alpha, const T* a,  \
      const blas_int* lda, const Scalar* beta, T* c, const blas_int* ldc) {                                        \
    tessera::blas::rank_k<T, Scalar>(TESSERA_BLAS_ROUTINE(#X NAME, x##name##_), uplo, trans, n, k, alpha, a, lda,  \
                                     beta, c, ldc);                                                                \
  }                                                                                                                \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_##x##name)(                                                        \
      int layout, int uplo, int trans, blas_word n, blas_word k, tessera::blas::Passed<Scalar> alpha,              \
      tessera::blas::Read<T> a, blas_word lda, tessera::blas::Passed<Scalar> beta, tessera::blas::Written<T> c,    \
      blas_word ldc) {                                                                                             \
    tessera::blas::cblas_rank_k<T, Scalar>(TESSERA_BLAS_ROUTINE("cblas_" #x #name, cblas_##x##name), layout, uplo, \
                                           trans, n, k, alpha, a, lda, beta, c, ldc);                              \
  }                                                                                                                \
  TESSERA_BLAS_SCIPY_NAME(x##name##_);                                                                             \
  TESSERA_BLAS_SCIPY_NAME(cblas_##x##name);

extern "C" {

TESSERA_RANK_K(float, float, s, S, syrk, "SYRK ")
TESSERA_RANK_K(double, double, d, D, syrk, "SYRK ")
TESSERA_RANK_K(std::complex<float>, std::complex<float>, c, C, syrk, "SYRK ")
TESSERA_RANK_K(std::complex<double>, std::complex<double>, z, Z, syrk, "SYRK ")
TESSERA_RANK_K(std::complex<float>, float, c, C, herk, "HERK ")
TESSERA_RANK_K(std::complex<double>, double, z, Z, herk, "HERK ")
}
