/// Batches of real products: cblas_sgemm_batch, sgemm_batch_strided_ and so on.

#include "batch.hpp"

extern "C" {

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_sgemm_batch_strided)(int layout, int trans_a, int trans_b, blas_word m,
                                                                   blas_word n, blas_word k, float alpha,
                                                                   const float* a, blas_word lda, blas_word stride_a,
                                                                   const float* b, blas_word ldb, blas_word stride_b,
                                                                   float beta, float* c, blas_word ldc,
                                                                   blas_word stride_c, blas_word count) {
  tessera::blas::cblas_strided(TESSERA_BLAS_ROUTINE("cblas_sgemm_batch_strided", cblas_sgemm_batch_strided), layout,
                               trans_a, trans_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                               stride_c, count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_dgemm_batch_strided)(int layout, int trans_a, int trans_b, blas_word m,
                                                                   blas_word n, blas_word k, double alpha,
                                                                   const double* a, blas_word lda, blas_word stride_a,
                                                                   const double* b, blas_word ldb, blas_word stride_b,
                                                                   double beta, double* c, blas_word ldc,
                                                                   blas_word stride_c, blas_word count) {
  tessera::blas::cblas_strided(TESSERA_BLAS_ROUTINE("cblas_dgemm_batch_strided", cblas_dgemm_batch_strided), layout,
                               trans_a, trans_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                               stride_c, count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_sgemm_batch)(int layout, const int* trans_a, const int* trans_b,
                                                           const blas_int* m, const blas_int* n, const blas_int* k,
                                                           const float* alpha, const float** a, const blas_int* lda,
                                                           const float** b, const blas_int* ldb, const float* beta,
                                                           float** c, const blas_int* ldc, blas_word groups,
                                                           const blas_int* sizes) {
  tessera::blas::cblas_groups<float>(TESSERA_BLAS_ROUTINE("cblas_sgemm_batch", cblas_sgemm_batch), layout, trans_a,
                                     trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_dgemm_batch)(int layout, const int* trans_a, const int* trans_b,
                                                           const blas_int* m, const blas_int* n, const blas_int* k,
                                                           const double* alpha, const double** a, const blas_int* lda,
                                                           const double** b, const blas_int* ldb, const double* beta,
                                                           double** c, const blas_int* ldc, blas_word groups,
                                                           const blas_int* sizes) {
  tessera::blas::cblas_groups<double>(TESSERA_BLAS_ROUTINE("cblas_dgemm_batch", cblas_dgemm_batch), layout, trans_a,
                                      trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(sgemm_batch_strided_)(const char* trans_a, const char* trans_b,
                                                              const blas_int* m, const blas_int* n, const blas_int* k,
                                                              const float* alpha, const float* a, const blas_int* lda,
                                                              const blas_int* stride_a, const float* b,
                                                              const blas_int* ldb, const blas_int* stride_b,
                                                              const float* beta, float* c, const blas_int* ldc,
                                                              const blas_int* stride_c, const blas_int* count) {
  tessera::blas::fortran_strided(TESSERA_BLAS_ROUTINE("SGEMM_BATCH_STRIDED", sgemm_batch_strided_), trans_a, trans_b, m,
                                 n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(dgemm_batch_strided_)(const char* trans_a, const char* trans_b,
                                                              const blas_int* m, const blas_int* n, const blas_int* k,
                                                              const double* alpha, const double* a, const blas_int* lda,
                                                              const blas_int* stride_a, const double* b,
                                                              const blas_int* ldb, const blas_int* stride_b,
                                                              const double* beta, double* c, const blas_int* ldc,
                                                              const blas_int* stride_c, const blas_int* count) {
  tessera::blas::fortran_strided(TESSERA_BLAS_ROUTINE("DGEMM_BATCH_STRIDED", dgemm_batch_strided_), trans_a, trans_b, m,
                                 n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(sgemm_batch_)(const char* trans_a, const char* trans_b, const blas_int* m,
                                                      const blas_int* n, const blas_int* k, const float* alpha,
                                                      const float** a, const blas_int* lda, const float** b,
                                                      const blas_int* ldb, const float* beta, float** c,
                                                      const blas_int* ldc, const blas_int* groups,
                                                      const blas_int* sizes) {
  tessera::blas::fortran_groups<float>(TESSERA_BLAS_ROUTINE("SGEMM_BATCH", sgemm_batch_), trans_a, trans_b, m, n, k,
                                       alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(dgemm_batch_)(const char* trans_a, const char* trans_b, const blas_int* m,
                                                      const blas_int* n, const blas_int* k, const double* alpha,
                                                      const double** a, const blas_int* lda, const double** b,
                                                      const blas_int* ldb, const double* beta, double** c,
                                                      const blas_int* ldc, const blas_int* groups,
                                                      const blas_int* sizes) {
  tessera::blas::fortran_groups<double>(TESSERA_BLAS_ROUTINE("DGEMM_BATCH", dgemm_batch_), trans_a, trans_b, m, n, k,
                                        alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes);
}

TESSERA_BLAS_SCIPY_NAME(cblas_sgemm_batch_strided);
TESSERA_BLAS_SCIPY_NAME(cblas_dgemm_batch_strided);
TESSERA_BLAS_SCIPY_NAME(cblas_sgemm_batch);
TESSERA_BLAS_SCIPY_NAME(cblas_dgemm_batch);
TESSERA_BLAS_SCIPY_NAME(sgemm_batch_strided_);
TESSERA_BLAS_SCIPY_NAME(dgemm_batch_strided_);
TESSERA_BLAS_SCIPY_NAME(sgemm_batch_);
TESSERA_BLAS_SCIPY_NAME(dgemm_batch_);
}
