/// Batches of complex products: cblas_cgemm_batch, cgemm_batch_strided_ and so on.

#include "batch.hpp"

namespace tessera::blas {
namespace {

/// CBLAS has no type for complex numbers: it passes them by address, and arrays of pointers as void**.
template <class T>
const T* numbers(const void* address) {
  return static_cast<const T*>(address);
}
template <class T>
const T* const* arrays(const void** addresses) {
  return reinterpret_cast<const T* const*>(addresses);
}

} // namespace
} // namespace tessera::blas

using tessera::blas::arrays;
using tessera::blas::numbers;

extern "C" {

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_cgemm_batch_strided)(int layout, int trans_a, int trans_b, blas_word m,
                                                                   blas_word n, blas_word k, const void* alpha,
                                                                   const void* a, blas_word lda, blas_word stride_a,
                                                                   const void* b, blas_word ldb, blas_word stride_b,
                                                                   const void* beta, void* c, blas_word ldc,
                                                                   blas_word stride_c, blas_word count) {
  using T = std::complex<float>;
  tessera::blas::cblas_strided<T>(TESSERA_BLAS_ROUTINE("cblas_cgemm_batch_strided", cblas_cgemm_batch_strided), layout,
                                  trans_a, trans_b, m, n, k, *numbers<T>(alpha), numbers<T>(a), lda, stride_a,
                                  numbers<T>(b), ldb, stride_b, *numbers<T>(beta), static_cast<T*>(c), ldc, stride_c,
                                  count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_cgemm_batch)(int layout, const int* trans_a, const int* trans_b,
                                                           const blas_int* m, const blas_int* n, const blas_int* k,
                                                           const void* alpha, const void** a, const blas_int* lda,
                                                           const void** b, const blas_int* ldb, const void* beta,
                                                           void** c, const blas_int* ldc, blas_word groups,
                                                           const blas_int* sizes) {
  using T = std::complex<float>;
  tessera::blas::cblas_groups<T>(TESSERA_BLAS_ROUTINE("cblas_cgemm_batch", cblas_cgemm_batch), layout, trans_a, trans_b,
                                 m, n, k, numbers<T>(alpha), arrays<T>(a), lda, arrays<T>(b), ldb, numbers<T>(beta),
                                 reinterpret_cast<T* const*>(c), ldc, groups, sizes);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cgemm_batch_strided_)(
    const char* trans_a, const char* trans_b, const blas_int* m, const blas_int* n, const blas_int* k,
    const std::complex<float>* alpha, const std::complex<float>* a, const blas_int* lda, const blas_int* stride_a,
    const std::complex<float>* b, const blas_int* ldb, const blas_int* stride_b, const std::complex<float>* beta,
    std::complex<float>* c, const blas_int* ldc, const blas_int* stride_c, const blas_int* count) {
  tessera::blas::fortran_strided(TESSERA_BLAS_ROUTINE("CGEMM_BATCH_STRIDED", cgemm_batch_strided_), trans_a, trans_b, m,
                                 n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cgemm_batch_)(const char* trans_a, const char* trans_b, const blas_int* m,
                                                      const blas_int* n, const blas_int* k,
                                                      const std::complex<float>* alpha, const std::complex<float>** a,
                                                      const blas_int* lda, const std::complex<float>** b,
                                                      const blas_int* ldb, const std::complex<float>* beta,
                                                      std::complex<float>** c, const blas_int* ldc,
                                                      const blas_int* groups, const blas_int* sizes) {
  tessera::blas::fortran_groups<std::complex<float>>(TESSERA_BLAS_ROUTINE("CGEMM_BATCH", cgemm_batch_), trans_a,
                                                     trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups,
                                                     sizes);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_zgemm_batch_strided)(int layout, int trans_a, int trans_b, blas_word m,
                                                                   blas_word n, blas_word k, const void* alpha,
                                                                   const void* a, blas_word lda, blas_word stride_a,
                                                                   const void* b, blas_word ldb, blas_word stride_b,
                                                                   const void* beta, void* c, blas_word ldc,
                                                                   blas_word stride_c, blas_word count) {
  using T = std::complex<double>;
  tessera::blas::cblas_strided<T>(TESSERA_BLAS_ROUTINE("cblas_zgemm_batch_strided", cblas_zgemm_batch_strided), layout,
                                  trans_a, trans_b, m, n, k, *numbers<T>(alpha), numbers<T>(a), lda, stride_a,
                                  numbers<T>(b), ldb, stride_b, *numbers<T>(beta), static_cast<T*>(c), ldc, stride_c,
                                  count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_zgemm_batch)(int layout, const int* trans_a, const int* trans_b,
                                                           const blas_int* m, const blas_int* n, const blas_int* k,
                                                           const void* alpha, const void** a, const blas_int* lda,
                                                           const void** b, const blas_int* ldb, const void* beta,
                                                           void** c, const blas_int* ldc, blas_word groups,
                                                           const blas_int* sizes) {
  using T = std::complex<double>;
  tessera::blas::cblas_groups<T>(TESSERA_BLAS_ROUTINE("cblas_zgemm_batch", cblas_zgemm_batch), layout, trans_a, trans_b,
                                 m, n, k, numbers<T>(alpha), arrays<T>(a), lda, arrays<T>(b), ldb, numbers<T>(beta),
                                 reinterpret_cast<T* const*>(c), ldc, groups, sizes);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(zgemm_batch_strided_)(
    const char* trans_a, const char* trans_b, const blas_int* m, const blas_int* n, const blas_int* k,
    const std::complex<double>* alpha, const std::complex<double>* a, const blas_int* lda, const blas_int* stride_a,
    const std::complex<double>* b, const blas_int* ldb, const blas_int* stride_b, const std::complex<double>* beta,
    std::complex<double>* c, const blas_int* ldc, const blas_int* stride_c, const blas_int* count) {
  tessera::blas::fortran_strided(TESSERA_BLAS_ROUTINE("ZGEMM_BATCH_STRIDED", zgemm_batch_strided_), trans_a, trans_b, m,
                                 n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(zgemm_batch_)(const char* trans_a, const char* trans_b, const blas_int* m,
                                                      const blas_int* n, const blas_int* k,
                                                      const std::complex<double>* alpha, const std::complex<double>** a,
                                                      const blas_int* lda, const std::complex<double>** b,
                                                      const blas_int* ldb, const std::complex<double>* beta,
                                                      std::complex<double>** c, const blas_int* ldc,
                                                      const blas_int* groups, const blas_int* sizes) {
  tessera::blas::fortran_groups<std::complex<double>>(TESSERA_BLAS_ROUTINE("ZGEMM_BATCH", zgemm_batch_), trans_a,
                                                      trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups,
                                                      sizes);
}

TESSERA_BLAS_SCIPY_NAME(cblas_cgemm_batch_strided);
TESSERA_BLAS_SCIPY_NAME(cblas_zgemm_batch_strided);
TESSERA_BLAS_SCIPY_NAME(cblas_cgemm_batch);
TESSERA_BLAS_SCIPY_NAME(cblas_zgemm_batch);
TESSERA_BLAS_SCIPY_NAME(cgemm_batch_strided_);
TESSERA_BLAS_SCIPY_NAME(zgemm_batch_strided_);
TESSERA_BLAS_SCIPY_NAME(cgemm_batch_);
TESSERA_BLAS_SCIPY_NAME(zgemm_batch_);
}
