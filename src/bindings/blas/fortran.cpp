/// sgemm_, dgemm_, cgemm_ and zgemm_: the Fortran interface, column-major.

#include "ops.hpp"
#include "xerbla.hpp"

namespace tessera::blas {
namespace {

template <class T>
void gemm(const Routine& routine, const char* trans_a, const char* trans_b, const blas_int* m, const blas_int* n,
          const blas_int* k, const T* alpha, const T* a, const blas_int* lda, const T* b, const blas_int* ldb,
          const T* beta, T* c, const blas_int* ldc) {
  const Integers value(routine);
  const std::optional<Op> op_a = parse_op<T>(*trans_a);
  const std::optional<Op> op_b = parse_op<T>(*trans_b);
  int wrong = !op_a ? 1 : !op_b ? 2 : 0;
  if (wrong == 0)
    wrong = wrong_argument({.m = value(m), .n = value(n), .k = value(k)}, value(lda), value(ldb), value(ldc),
                           {value(*op_a == Op::None ? m : k), value(*op_b == Op::None ? k : n), value(m)});
  if (wrong != 0) {
    constexpr std::size_t letter = 1; // Fortran's compilers pass the lengths of texts after all arguments
    if (!hand_on(routine, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, letter, letter))
      report_fortran(routine, wrong);
    return;
  }
  multiply(routine.word,
           column_major<T>(*op_a, *op_b, value(m), value(n), value(k), *alpha, a, value(lda), b, value(ldb), *beta, c,
                           value(ldc)),
           Order::Columns);
}

} // namespace
} // namespace tessera::blas

extern "C" {

TESSERA_BLAS_API void TESSERA_BLAS_NAME(sgemm_)(const char* trans_a, const char* trans_b, const blas_int* m,
                                                const blas_int* n, const blas_int* k, const float* alpha,
                                                const float* a, const blas_int* lda, const float* b,
                                                const blas_int* ldb, const float* beta, float* c, const blas_int* ldc) {
  tessera::blas::gemm(TESSERA_BLAS_ROUTINE("SGEMM ", sgemm_), trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                      ldc);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(dgemm_)(const char* trans_a, const char* trans_b, const blas_int* m,
                                                const blas_int* n, const blas_int* k, const double* alpha,
                                                const double* a, const blas_int* lda, const double* b,
                                                const blas_int* ldb, const double* beta, double* c,
                                                const blas_int* ldc) {
  tessera::blas::gemm(TESSERA_BLAS_ROUTINE("DGEMM ", dgemm_), trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                      ldc);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cgemm_)(const char* trans_a, const char* trans_b, const blas_int* m,
                                                const blas_int* n, const blas_int* k, const std::complex<float>* alpha,
                                                const std::complex<float>* a, const blas_int* lda,
                                                const std::complex<float>* b, const blas_int* ldb,
                                                const std::complex<float>* beta, std::complex<float>* c,
                                                const blas_int* ldc) {
  tessera::blas::gemm(TESSERA_BLAS_ROUTINE("CGEMM ", cgemm_), trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                      ldc);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(zgemm_)(const char* trans_a, const char* trans_b, const blas_int* m,
                                                const blas_int* n, const blas_int* k, const std::complex<double>* alpha,
                                                const std::complex<double>* a, const blas_int* lda,
                                                const std::complex<double>* b, const blas_int* ldb,
                                                const std::complex<double>* beta, std::complex<double>* c,
                                                const blas_int* ldc) {
  tessera::blas::gemm(TESSERA_BLAS_ROUTINE("ZGEMM ", zgemm_), trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                      ldc);
}

TESSERA_BLAS_SCIPY_NAME(sgemm_);
TESSERA_BLAS_SCIPY_NAME(dgemm_);
TESSERA_BLAS_SCIPY_NAME(cgemm_);
TESSERA_BLAS_SCIPY_NAME(zgemm_);
}
