/// ssyrk_, dsyrk_, cblas_ssyrk and cblas_dsyrk: one triangle of C := alpha·op(A)·op(A)ᵀ + beta·C.

#include <tessera/linear_algebra/syrk.hpp>

#include "solve.hpp"

namespace tessera::blas {
namespace {

/// The product of a column-major matrix, whose memory is its transpose by rows.
template <class T>
struct Product {
  std::optional<Triangle> triangle;
  std::optional<Op> op;
  Index n, k;
  T alpha;
  const T* a;
  Index lda;
  T beta;
  T* c;
  Index ldc;

  /// Returns the position of the first wrong argument, as Fortran counts; 0: none.
  int wrong() const {
    if (!triangle) return 1;
    if (!op) return 2;
    const Index length = *op == Op::None ? n : k;
    return n < 0 ? 3 : k < 0 ? 4 : lda < std::max<Index>(1, length) ? 7 : ldc < std::max<Index>(1, n) ? 10 : 0;
  }
  void run(const Routine& routine) const {
    compute(routine, {n, k}, [&](const SolveOptions& options, detail::Shortage shortage) {
      detail::symmetric_product({.type = dtype_of<T>,
                                 .triangle = other(*triangle),
                                 .op = *op == Op::None ? Op::Transpose : Op::None,
                                 .n = n,
                                 .k = k,
                                 .alpha = static_cast<double>(alpha),
                                 .a = a,
                                 .lda = lda,
                                 .beta = static_cast<double>(beta),
                                 .c = c,
                                 .ldc = ldc},
                                options, shortage);
    });
  }
};

template <class T>
void syrk(const Routine& routine, const char* uplo, const char* trans, const blas_int* n, const blas_int* k,
          const T* alpha, const T* a, const blas_int* lda, const T* beta, T* c, const blas_int* ldc) {
  const Integers value(routine);
  const Product<T> product{
      parse_triangle(*uplo), parse_op<T>(*trans), value(n), value(k), *alpha, a, value(lda), *beta, c, value(ldc)};
  const int wrong = product.wrong();
  if (wrong == 0) return product.run(routine);
  if (!hand_on(routine, uplo, trans, n, k, alpha, a, lda, beta, c, ldc, letter, letter)) report_fortran(routine, wrong);
}

template <class T>
void cblas_syrk(const Routine& routine, int layout, int uplo, int trans_a, blas_word n, blas_word k, T alpha,
                const T* a, blas_word lda, T beta, T* c, blas_word ldc) {
  const Integers value(routine);
  const bool rows = layout == row_major;
  const auto refuse = [&](int position, const char* form, auto text) {
    if (hand_on(routine, layout, uplo, trans_a, n, k, alpha, a, lda, beta, c, ldc)) return;
    tell_row_major(rows);
    report_cblas(routine, position, form, text);
    tell_row_major(false);
  };
  if (layout != row_major && layout != col_major) return refuse(1, "Illegal layout setting, %d\n", layout);
  if (uplo != upper && uplo != lower) return refuse(2, "Illegal Uplo setting, %d\n", uplo);
  if (!known(trans_a)) return refuse(3, "Illegal Trans setting, %d\n", trans_a);
  // A row-major product is the column-major one of the matrix's transpose.
  const Triangle triangle = (uplo == lower) != rows ? Triangle::Lower : Triangle::Upper;
  const Op op = (trans_a == no_trans) != rows ? Op::None : Op::Transpose;
  const Product<T> product{triangle, op, value(n), value(k), alpha, a, value(lda), beta, c, value(ldc)};
  const int wrong = product.wrong();
  if (wrong != 0) return refuse(wrong + 1, "%s", "");
  product.run(routine);
}

} // namespace
} // namespace tessera::blas

extern "C" {

TESSERA_BLAS_API void TESSERA_BLAS_NAME(ssyrk_)(const char* uplo, const char* trans, const blas_int* n,
                                                const blas_int* k, const float* alpha, const float* a,
                                                const blas_int* lda, const float* beta, float* c, const blas_int* ldc) {
  tessera::blas::syrk(TESSERA_BLAS_ROUTINE("SSYRK ", ssyrk_), uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}
TESSERA_BLAS_API void TESSERA_BLAS_NAME(dsyrk_)(const char* uplo, const char* trans, const blas_int* n,
                                                const blas_int* k, const double* alpha, const double* a,
                                                const blas_int* lda, const double* beta, double* c,
                                                const blas_int* ldc) {
  tessera::blas::syrk(TESSERA_BLAS_ROUTINE("DSYRK ", dsyrk_), uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_ssyrk)(int layout, int uplo, int trans, blas_word n, blas_word k,
                                                     float alpha, const float* a, blas_word lda, float beta, float* c,
                                                     blas_word ldc) {
  tessera::blas::cblas_syrk(TESSERA_BLAS_ROUTINE("cblas_ssyrk", cblas_ssyrk), layout, uplo, trans, n, k, alpha, a, lda,
                            beta, c, ldc);
}
TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_dsyrk)(int layout, int uplo, int trans, blas_word n, blas_word k,
                                                     double alpha, const double* a, blas_word lda, double beta,
                                                     double* c, blas_word ldc) {
  tessera::blas::cblas_syrk(TESSERA_BLAS_ROUTINE("cblas_dsyrk", cblas_dsyrk), layout, uplo, trans, n, k, alpha, a, lda,
                            beta, c, ldc);
}

TESSERA_BLAS_SCIPY_NAME(ssyrk_);
TESSERA_BLAS_SCIPY_NAME(dsyrk_);
TESSERA_BLAS_SCIPY_NAME(cblas_ssyrk);
TESSERA_BLAS_SCIPY_NAME(cblas_dsyrk);
}
