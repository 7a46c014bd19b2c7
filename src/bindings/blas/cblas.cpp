/// cblas_sgemm, cblas_dgemm, cblas_cgemm and cblas_zgemm: the C interface, either layout.

#include "ops.hpp"
#include "xerbla.hpp"

namespace tessera::blas {
namespace {

/// `alpha`, `beta` and matrices are as the interface has them: complex numbers come by address, without a type.
template <class T, class Factor, class From, class To>
void gemm(const Routine& routine, int layout, int trans_a, int trans_b, blas_word m_word, blas_word n_word,
          blas_word k_word, Factor alpha, From a, blas_word lda_word, From b, blas_word ldb_word, Factor beta, To c,
          blas_word ldc_word) {
  const Integers value(routine);
  const Index m = value(m_word), n = value(n_word), k = value(k_word);
  const Index lda = value(lda_word), ldb = value(ldb_word), ldc = value(ldc_word);
  const bool rows = layout == row_major;
  const auto refuse = [&](int position, const char* form, auto text) {
    if (hand_on(routine, layout, trans_a, trans_b, m_word, n_word, k_word, alpha, a, lda_word, b, ldb_word, beta, c,
                ldc_word))
      return;
    tell_row_major(rows);
    report_cblas(routine, position, form, text);
    tell_row_major(false);
  };
  if (layout != row_major && layout != col_major) return refuse(1, "Illegal layout setting, %d\n", layout);
  if (!known(trans_a)) return refuse(2, "Illegal TransA setting, %d\n", trans_a);
  if (!known(trans_b)) return refuse(3, "Illegal TransB setting, %d\n", trans_b);
  const Op op_a = op_of<T>(trans_a), op_b = op_of<T>(trans_b);
  const Spans spans{(op_a == Op::None) == rows ? k : m, (op_b == Op::None) == rows ? n : k, rows ? n : m};
  // A row-major product is checked as the Fortran routine would see it, with A and B in each other's places.
  const int wrong = rows ? wrong_argument({.m = n, .n = m, .k = k}, ldb, lda, ldc, {spans.b, spans.a, spans.c})
                         : wrong_argument({.m = m, .n = n, .k = k}, lda, ldb, ldc, spans);
  if (wrong != 0) return refuse(wrong + 1, "%s", ""); // C counts the layout, which Fortran does not have
  const auto number = [](auto factor) -> T {
    if constexpr (std::is_pointer_v<decltype(factor)>)
      return *static_cast<const T*>(factor);
    else
      return factor;
  };
  const auto* const from_a = static_cast<const T*>(a);
  const auto* const from_b = static_cast<const T*>(b);
  auto* const to = static_cast<T*>(c);
  if (rows)
    multiply(routine.word,
             by_rows<T>(op_a, op_b, m, n, k, number(alpha), from_a, lda, from_b, ldb, number(beta), to, ldc),
             Order::Rows);
  else
    multiply(routine.word,
             column_major<T>(op_a, op_b, m, n, k, number(alpha), from_a, lda, from_b, ldb, number(beta), to, ldc),
             Order::Columns);
}

} // namespace
} // namespace tessera::blas

extern "C" {

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_sgemm)(int layout, int trans_a, int trans_b, blas_word m, blas_word n,
                                                     blas_word k, float alpha, const float* a, blas_word lda,
                                                     const float* b, blas_word ldb, float beta, float* c,
                                                     blas_word ldc) {
  tessera::blas::gemm<float>(TESSERA_BLAS_ROUTINE("cblas_sgemm", cblas_sgemm), layout, trans_a, trans_b, m, n, k, alpha,
                             a, lda, b, ldb, beta, c, ldc);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_dgemm)(int layout, int trans_a, int trans_b, blas_word m, blas_word n,
                                                     blas_word k, double alpha, const double* a, blas_word lda,
                                                     const double* b, blas_word ldb, double beta, double* c,
                                                     blas_word ldc) {
  tessera::blas::gemm<double>(TESSERA_BLAS_ROUTINE("cblas_dgemm", cblas_dgemm), layout, trans_a, trans_b, m, n, k,
                              alpha, a, lda, b, ldb, beta, c, ldc);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_cgemm)(int layout, int trans_a, int trans_b, blas_word m, blas_word n,
                                                     blas_word k, const void* alpha, const void* a, blas_word lda,
                                                     const void* b, blas_word ldb, const void* beta, void* c,
                                                     blas_word ldc) {
  tessera::blas::gemm<std::complex<float>>(TESSERA_BLAS_ROUTINE("cblas_cgemm", cblas_cgemm), layout, trans_a, trans_b,
                                           m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_zgemm)(int layout, int trans_a, int trans_b, blas_word m, blas_word n,
                                                     blas_word k, const void* alpha, const void* a, blas_word lda,
                                                     const void* b, blas_word ldb, const void* beta, void* c,
                                                     blas_word ldc) {
  tessera::blas::gemm<std::complex<double>>(TESSERA_BLAS_ROUTINE("cblas_zgemm", cblas_zgemm), layout, trans_a, trans_b,
                                            m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

TESSERA_BLAS_SCIPY_NAME(cblas_sgemm);
TESSERA_BLAS_SCIPY_NAME(cblas_dgemm);
TESSERA_BLAS_SCIPY_NAME(cblas_cgemm);
TESSERA_BLAS_SCIPY_NAME(cblas_zgemm);
}
