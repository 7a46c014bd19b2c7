/// cblas_sgemm and cblas_dgemm: the C interface, either layout.

#include "blas/product.hpp"

namespace tessera::blas {
namespace {

/// The standard's numbers.
constexpr int row_major = 101, col_major = 102;
constexpr int no_trans = 111, conj_trans = 113;

Op op_of(int trans) { return trans == no_trans ? Op::None : Op::Transpose; }
bool known(int trans) { return trans >= no_trans && trans <= conj_trans; }

template <class T>
void gemm(const char* routine, int layout, int trans_a, int trans_b, blas_int m, blas_int n, blas_int k, T alpha,
          const T* a, blas_int lda, const T* b, blas_int ldb, T beta, T* c, blas_int ldc) {
  const auto refuse = [&](blas_int position, const char* form, auto value) {
    TESSERA_BLAS_NAME(cblas_xerbla)(position, routine, form, value);
  };
  if (layout != row_major && layout != col_major) return refuse(1, "Illegal layout setting, %d\n", layout);
  if (!known(trans_a)) return refuse(2, "Illegal TransA setting, %d\n", trans_a);
  if (!known(trans_b)) return refuse(3, "Illegal TransB setting, %d\n", trans_b);
  const Op op_a = op_of(trans_a), op_b = op_of(trans_b);
  const bool rows = layout == row_major;
  const Spans spans{(op_a == Op::None) == rows ? k : m, (op_b == Op::None) == rows ? n : k, rows ? n : m};
  if (const blas_int wrong = wrong_argument(m, n, k, lda, ldb, ldc, spans); wrong != 0)
    return refuse(wrong + 1, "%s", ""); // the layout comes before what Fortran counts
  if (rows)
    multiply(routine, {dtype_of<T>, Math::Strict, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 0});
  else
    multiply(routine, column_major<T>(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
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
}
