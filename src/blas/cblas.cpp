/// cblas_sgemm, cblas_dgemm, cblas_cgemm and cblas_zgemm: the C interface, either layout.

#include "ops.hpp"

namespace tessera::blas {
namespace {

template <class T>
void gemm(const char* routine, int layout, int trans_a, int trans_b, blas_int m, blas_int n, blas_int k, T alpha,
          const T* a, blas_int lda, const T* b, blas_int ldb, T beta, T* c, blas_int ldc) {
  const bool rows = layout == row_major;
  const auto refuse = [&](blas_int position, const char* form, auto value) {
    tell_row_major(rows);
    TESSERA_BLAS_NAME(cblas_xerbla)(position, routine, form, value);
    tell_row_major(false);
  };
  if (layout != row_major && layout != col_major) return refuse(1, "Illegal layout setting, %d\n", layout);
  if (!known(trans_a)) return refuse(2, "Illegal TransA setting, %d\n", trans_a);
  if (!known(trans_b)) return refuse(3, "Illegal TransB setting, %d\n", trans_b);
  const Op op_a = op_of<T>(trans_a), op_b = op_of<T>(trans_b);
  const Spans spans{(op_a == Op::None) == rows ? k : m, (op_b == Op::None) == rows ? n : k, rows ? n : m};
  // A row-major product is checked as the Fortran routine would see it, with A and B in each other's places.
  const blas_int wrong = rows ? wrong_argument(n, m, k, ldb, lda, ldc, {spans.b, spans.a, spans.c})
                              : wrong_argument(m, n, k, lda, ldb, ldc, spans);
  if (wrong != 0) return refuse(wrong + 1, "%s", ""); // C counts the layout, which Fortran does not have
  if (rows)
    multiply(routine, by_rows<T>(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
  else
    multiply(routine, column_major<T>(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
}

/// CBLAS passes complex numbers by address, without a type.
template <class T>
void gemm(const char* routine, int layout, int trans_a, int trans_b, blas_int m, blas_int n, blas_int k,
          const void* alpha, const void* a, blas_int lda, const void* b, blas_int ldb, const void* beta, void* c,
          blas_int ldc) {
  const auto number = [](const void* address) { return static_cast<const T*>(address); };
  gemm<T>(routine, layout, trans_a, trans_b, m, n, k, *number(alpha), number(a), lda, number(b), ldb, *number(beta),
          static_cast<T*>(c), ldc);
}

} // namespace
} // namespace tessera::blas

extern "C" {

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_sgemm)(int layout, int trans_a, int trans_b, blas_int m, blas_int n,
                                                     blas_int k, float alpha, const float* a, blas_int lda,
                                                     const float* b, blas_int ldb, float beta, float* c, blas_int ldc) {
  tessera::blas::gemm("cblas_sgemm", layout, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_dgemm)(int layout, int trans_a, int trans_b, blas_int m, blas_int n,
                                                     blas_int k, double alpha, const double* a, blas_int lda,
                                                     const double* b, blas_int ldb, double beta, double* c,
                                                     blas_int ldc) {
  tessera::blas::gemm("cblas_dgemm", layout, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_cgemm)(int layout, int trans_a, int trans_b, blas_int m, blas_int n,
                                                     blas_int k, const void* alpha, const void* a, blas_int lda,
                                                     const void* b, blas_int ldb, const void* beta, void* c,
                                                     blas_int ldc) {
  tessera::blas::gemm<std::complex<float>>("cblas_cgemm", layout, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb,
                                           beta, c, ldc);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_zgemm)(int layout, int trans_a, int trans_b, blas_int m, blas_int n,
                                                     blas_int k, const void* alpha, const void* a, blas_int lda,
                                                     const void* b, blas_int ldb, const void* beta, void* c,
                                                     blas_int ldc) {
  tessera::blas::gemm<std::complex<double>>("cblas_zgemm", layout, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb,
                                            beta, c, ldc);
}

TESSERA_BLAS_SCIPY_NAME(cblas_sgemm);
TESSERA_BLAS_SCIPY_NAME(cblas_dgemm);
TESSERA_BLAS_SCIPY_NAME(cblas_cgemm);
TESSERA_BLAS_SCIPY_NAME(cblas_zgemm);
}
