/// sgemv_, dgemv_, cblas_sgemv and cblas_dgemv: y := alpha·op(A)·x + beta·y, with the bits of the product whose B is x.

#include <algorithm>
#include <cstdio>
#include <new>
#include <vector>

#include "reference/gemm/without_memory.hpp"
#include "solve.hpp"

namespace tessera::blas {
namespace {

/// A vector whose elements lie `step` apart, from the last one on where the step is negative.
template <class T>
struct Vector {
  T* data;
  Index size, step;

  T* first() const { return step < 0 ? data - (size - 1) * step : data; }
};

/// The product with a matrix that is stored by rows.
template <class T>
struct Product {
  Op op;
  Index rows, cols; ///< of op(A)
  T alpha;
  const T* a;
  Index lda;
  Vector<const T> x;
  T beta;
  Vector<T> y;

  GemmCall call(const T* b, Index ldb, T* c, Index ldc) const {
    return by_rows<T>(op, Op::None, rows, 1, cols, alpha, a, lda, b, ldb, beta, c, ldc);
  }
};

/// Products have no negative strides: such vectors are copied.
template <class T>
void multiply_copies(const Routine& routine, const Product<T>& product) {
  const Vector<const T>& x = product.x;
  const Vector<T>& y = product.y;
  std::vector<T> b(static_cast<std::size_t>(x.size)), c(static_cast<std::size_t>(y.size));
  for (Index i = 0; i < x.size; ++i) b[static_cast<std::size_t>(i)] = x.first()[i * x.step];
  for (Index i = 0; i < y.size; ++i) c[static_cast<std::size_t>(i)] = y.first()[i * y.step];
  multiply(routine.word, product.call(b.data(), 1, c.data(), 1), Order::Rows);
  for (Index i = 0; i < y.size; ++i) y.first()[i * y.step] = c[static_cast<std::size_t>(i)];
}

template <class T>
void multiply(const Routine& routine, const Product<T>& product) noexcept {
  const Vector<const T>& x = product.x;
  const Vector<T>& y = product.y;
  prepare();
  log_routine(routine, {y.size, x.size});
  if (x.size == 0 || y.size == 0) return; // y is not even scaled, says the standard
  if (x.step > 0 && y.step > 0)
    return multiply(routine.word, product.call(x.data, x.step, y.data, y.step), Order::Rows);
  try {
    multiply_copies(routine, product);
  } catch (const std::bad_alloc&) { // this loop alone takes negative strides
    std::fprintf(stderr, "tessera: %s: out of host memory; a slow loop that needs none computes the product\n",
                 routine.word);
    host::multiply_without_memory(product.call(x.first(), x.step, y.first(), y.step));
  }
}

/// Returns the position of the first wrong argument of a column-major product, as Fortran counts; 0: none. A is m×n.
int wrong_argument(Index m, Index n, Index lda, Index step_x, Index step_y) {
  return m < 0 ? 2 : n < 0 ? 3 : lda < std::max<Index>(1, m) ? 6 : step_x == 0 ? 8 : step_y == 0 ? 11 : 0;
}

template <class T>
void gemv(const Routine& routine, const char* trans, const blas_int* m_, const blas_int* n_, const T* alpha, const T* a,
          const blas_int* lda_, const T* x, const blas_int* incx_, const T* beta, T* y, const blas_int* incy_) {
  const Integers value(routine);
  const std::optional<Op> op = parse_op<T>(*trans);
  const Index m = value(m_), n = value(n_), lda = value(lda_), incx = value(incx_), incy = value(incy_);
  if (const int wrong = !op ? 1 : wrong_argument(m, n, lda, incx, incy); wrong != 0) {
    if (!hand_on(routine, trans, m_, n_, alpha, a, lda_, x, incx_, beta, y, incy_, letter))
      report_fortran(routine, wrong);
    return;
  }
  const bool straight = *op == Op::None;
  const Index rows = straight ? m : n, cols = straight ? n : m;
  multiply(
      routine,
      Product<T>{
          straight ? Op::Transpose : Op::None, rows, cols, *alpha, a, lda, {x, cols, incx}, *beta, {y, rows, incy}});
}

template <class T>
void cblas_gemv(const Routine& routine, int layout, int trans_a, blas_word m_word, blas_word n_word, T alpha,
                const T* a, blas_word lda_word, const T* x, blas_word incx_word, T beta, T* y, blas_word incy_word) {
  const Integers value(routine);
  const Index m = value(m_word), n = value(n_word), lda = value(lda_word);
  const Index incx = value(incx_word), incy = value(incy_word);
  const bool by_rows = layout == row_major;
  const auto refuse = [&](int position, const char* form, auto text) {
    if (hand_on(routine, layout, trans_a, m_word, n_word, alpha, a, lda_word, x, incx_word, beta, y, incy_word)) return;
    tell_row_major(by_rows);
    report_cblas(routine, position, form, text);
    tell_row_major(false);
  };
  if (layout != row_major && layout != col_major) return refuse(1, "Illegal layout setting, %d\n", layout);
  if (!known(trans_a)) return refuse(2, "Illegal TransA setting, %d\n", trans_a);
  const int wrong = by_rows ? wrong_argument(n, m, lda, incx, incy) : wrong_argument(m, n, lda, incx, incy);
  if (wrong != 0) return refuse(wrong + 1, "%s", "");
  const bool straight = trans_a == no_trans;
  const Index rows = straight ? m : n, cols = straight ? n : m;
  multiply(routine, Product<T>{straight == by_rows ? Op::None : Op::Transpose,
                               rows,
                               cols,
                               alpha,
                               a,
                               lda,
                               {x, cols, incx},
                               beta,
                               {y, rows, incy}});
}

} // namespace
} // namespace tessera::blas

extern "C" {

TESSERA_BLAS_API void TESSERA_BLAS_NAME(sgemv_)(const char* trans, const blas_int* m, const blas_int* n,
                                                const float* alpha, const float* a, const blas_int* lda, const float* x,
                                                const blas_int* incx, const float* beta, float* y,
                                                const blas_int* incy) {
  tessera::blas::gemv(TESSERA_BLAS_ROUTINE("SGEMV ", sgemv_), trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
TESSERA_BLAS_API void TESSERA_BLAS_NAME(dgemv_)(const char* trans, const blas_int* m, const blas_int* n,
                                                const double* alpha, const double* a, const blas_int* lda,
                                                const double* x, const blas_int* incx, const double* beta, double* y,
                                                const blas_int* incy) {
  tessera::blas::gemv(TESSERA_BLAS_ROUTINE("DGEMV ", dgemv_), trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_sgemv)(int layout, int trans, blas_word m, blas_word n, float alpha,
                                                     const float* a, blas_word lda, const float* x, blas_word incx,
                                                     float beta, float* y, blas_word incy) {
  tessera::blas::cblas_gemv(TESSERA_BLAS_ROUTINE("cblas_sgemv", cblas_sgemv), layout, trans, m, n, alpha, a, lda, x,
                            incx, beta, y, incy);
}
TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_dgemv)(int layout, int trans, blas_word m, blas_word n, double alpha,
                                                     const double* a, blas_word lda, const double* x, blas_word incx,
                                                     double beta, double* y, blas_word incy) {
  tessera::blas::cblas_gemv(TESSERA_BLAS_ROUTINE("cblas_dgemv", cblas_dgemv), layout, trans, m, n, alpha, a, lda, x,
                            incx, beta, y, incy);
}

TESSERA_BLAS_SCIPY_NAME(sgemv_);
TESSERA_BLAS_SCIPY_NAME(dgemv_);
TESSERA_BLAS_SCIPY_NAME(cblas_sgemv);
TESSERA_BLAS_SCIPY_NAME(cblas_dgemv);
}
