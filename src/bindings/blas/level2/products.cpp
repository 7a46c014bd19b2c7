/// gemv, gbmv, symv, hemv, sbmv, hbmv, spmv and hpmv: y := alpha·op(A)·x + beta·y, in both interfaces.

#include "call.hpp"
#include "extensions/linear_algebra/vectors/matrix_vector.hpp"

namespace tessera::blas {
namespace {

/// What a product does with vectors.
template <class N>
struct Vectors {
  N alpha;
  const N* x;
  Index incx;
  N beta;
  N* y;
  Index incy;

  bool leaves_y() const { return is_zero(alpha) && is_one(beta); }
};

template <class N>
void multiply(const Routine& routine, const Columns<const N>& a, Form form, const Vectors<N>& v) {
  const Index rows = form.transposed ? a.cols : a.rows, cols = form.transposed ? a.rows : a.cols;
  begin(routine, rows, cols);
  if (rows == 0 || cols == 0 || v.leaves_y()) return; // no columns: y is not even scaled, says the standard
  vectors::multiply<N>(a, form, v.alpha, stored(v.x, cols, v.incx), v.beta, stored(v.y, rows, v.incy));
}

template <class N, class Call>
void gemv(const Call& call, std::optional<Form> form, Index m, Index n, const N* a, Index lda, const Vectors<N>& v) {
  if (call.refuses({{!form, 1}, {m < 0, 2}, {n < 0, 3}, {is_short(lda, m), 6}, {v.incx == 0, 8}, {v.incy == 0, 11}}))
    return;
  multiply(call.routine(), vectors::general(a, m, n, lda), *form, v);
}

template <class N, class Call>
void gbmv(const Call& call, std::optional<Form> form, Index m, Index n, Index below, Index above, const N* a, Index lda,
          const Vectors<N>& v) {
  if (call.refuses({{!form, 1},
                    {m < 0, 2},
                    {n < 0, 3},
                    {below < 0, 4},
                    {above < 0, 5},
                    {lda < below + above + 1, 8},
                    {v.incx == 0, 10},
                    {v.incy == 0, 13}}))
    return;
  multiply(call.routine(), vectors::band(a, m, n, below, above, lda), *form, v);
}

/// A row-major Hermitian matrix is the conjugate of what the column-major routine sees.
struct Kind {
  bool is_hermitian, is_conjugated;
};

template <class N>
void multiply_symmetric(const Routine& routine, Columns<const N> a, Half half, Kind kind, const Vectors<N>& v) {
  const Index n = a.rows;
  begin(routine, n, n);
  if (n == 0 || v.leaves_y()) return;
  if (kind.is_hermitian) a.diagonal = OnDiagonal::Real;
  vectors::multiply<N>(routine.word, {a, half, kind.is_hermitian, kind.is_hermitian && kind.is_conjugated}, v.alpha,
                       stored(v.x, n, v.incx), v.beta, stored(v.y, n, v.incy));
}

template <class N, class Call>
void symv(const Call& call, Kind kind, std::optional<Half> half, Index n, const N* a, Index lda, const Vectors<N>& v) {
  if (call.refuses({{!half, 1}, {n < 0, 2}, {is_short(lda, n), 5}, {v.incx == 0, 7}, {v.incy == 0, 10}})) return;
  multiply_symmetric<N>(call.routine(), vectors::triangle(a, *half, n, lda), *half, kind, v);
}
template <class N, class Call>
void sbmv(const Call& call, Kind kind, std::optional<Half> half, Index n, Index diagonals, const N* a, Index lda,
          const Vectors<N>& v) {
  if (call.refuses(
          {{!half, 1}, {n < 0, 2}, {diagonals < 0, 3}, {lda < diagonals + 1, 6}, {v.incx == 0, 8}, {v.incy == 0, 11}}))
    return;
  multiply_symmetric<N>(call.routine(), vectors::band_triangle(a, *half, n, diagonals, lda), *half, kind, v);
}
template <class N, class Call>
void spmv(const Call& call, Kind kind, std::optional<Half> half, Index n, const N* a, const Vectors<N>& v) {
  if (call.refuses({{!half, 1}, {n < 0, 2}, {v.incx == 0, 6}, {v.incy == 0, 9}})) return;
  multiply_symmetric<N>(call.routine(), vectors::packed_triangle(a, *half, n), *half, kind, v);
}

} // namespace
} // namespace tessera::blas

/// The ends of argument lists, from x on, and what they say.
#define TESSERA_F_VECTORS(N) const N *x, const blas_int *incx, const N *beta, N *y, const blas_int *incy
#define TESSERA_C_VECTORS(N) const N *x, blas_word incx, ByValue<N> beta, N *y, blas_word incy
#define TESSERA_VECTORS(N, alpha, beta) \
  Vectors<N> { alpha, x, call.value(incx), beta, y, call.value(incy) }

#define TESSERA_GENERAL(N, s)                                                                                          \
  TESSERA_BLAS_FORTRAN(s##gemv,                                                                                        \
                       (const char* transa, const blas_int* m, const blas_int* n, const N* alpha, const N* a,          \
                        const blas_int* lda, TESSERA_F_VECTORS(N)),                                                    \
                       const FortranCall call(routine, transa, m, n, alpha, a, lda, x, incx, beta, y, incy, letter);   \
                       gemv<N>(call, parse_form(*transa), call.value(m), call.value(n), a, call.value(lda),            \
                               TESSERA_VECTORS(N, *alpha, *beta));)                                                    \
  TESSERA_BLAS_CBLAS(s##gemv,                                                                                          \
                     (int layout, int transa, blas_word m, blas_word n, ByValue<N> alpha, const N* a, blas_word lda,   \
                      TESSERA_C_VECTORS(N)),                                                                           \
                     const MatrixCall call(routine, layout, transa, m, n, alpha, a, lda, x, incx, beta, y, incy);      \
                     if (call.refuses_words({trans_a_word(2, transa)})) return; const bool rows = call.is_by_rows();   \
                     gemv<N>(call, call.form(transa), call.value(rows ? n : m), call.value(rows ? m : n), a,           \
                             call.value(lda), TESSERA_VECTORS(N, value_of(alpha), value_of(beta)));)                   \
  TESSERA_BLAS_FORTRAN(                                                                                                \
      s##gbmv,                                                                                                         \
      (const char* transa, const blas_int* m, const blas_int* n, const blas_int* kl, const blas_int* ku,               \
       const N* alpha, const N* a, const blas_int* lda, TESSERA_F_VECTORS(N)),                                         \
      const FortranCall call(routine, transa, m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy, letter);            \
      gbmv<N>(call, parse_form(*transa), call.value(m), call.value(n), call.value(kl), call.value(ku), a,              \
              call.value(lda), TESSERA_VECTORS(N, *alpha, *beta));)                                                    \
  TESSERA_BLAS_CBLAS(                                                                                                  \
      s##gbmv,                                                                                                         \
      (int layout, int transa, blas_word m, blas_word n, blas_word kl, blas_word ku, ByValue<N> alpha, const N* a,     \
       blas_word lda, TESSERA_C_VECTORS(N)),                                                                           \
      const MatrixCall call(routine, layout, transa, m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy);             \
      if (call.refuses_words({trans_a_word(2, transa)})) return; const bool rows = call.is_by_rows();                  \
      gbmv<N>(call, call.form(transa), call.value(rows ? n : m), call.value(rows ? m : n), call.value(rows ? ku : kl), \
              call.value(rows ? kl : ku), a, call.value(lda), TESSERA_VECTORS(N, value_of(alpha), value_of(beta)));)

/// mv, bmv and pmv are the routines' names after the type: symv, sbmv and spmv, or hemv, hbmv and hpmv.
#define TESSERA_SYMMETRIC(N, s, symv_, sbmv_, spmv_, hermitian)                                                      \
  TESSERA_BLAS_FORTRAN(                                                                                              \
      s##symv_,                                                                                                      \
      (const char* uplo, const blas_int* n, const N* alpha, const N* a, const blas_int* lda, TESSERA_F_VECTORS(N)),  \
      const FortranCall call(routine, uplo, n, alpha, a, lda, x, incx, beta, y, incy, letter);                       \
      symv<N>(call, {hermitian, false}, parse_half(*uplo), call.value(n), a, call.value(lda),                        \
              TESSERA_VECTORS(N, *alpha, *beta));)                                                                   \
  TESSERA_BLAS_CBLAS(                                                                                                \
      s##symv_,                                                                                                      \
      (int layout, int uplo, blas_word n, ByValue<N> alpha, const N* a, blas_word lda, TESSERA_C_VECTORS(N)),        \
      const MatrixCall call(routine, layout, uplo, n, alpha, a, lda, x, incx, beta, y, incy);                        \
      if (call.refuses_words({uplo_word(uplo)})) return;                                                             \
      symv<N>(call, {hermitian, call.is_by_rows()}, call.half(uplo), call.value(n), a, call.value(lda),              \
              TESSERA_VECTORS(N, value_of(alpha), value_of(beta)));)                                                 \
  TESSERA_BLAS_FORTRAN(s##sbmv_,                                                                                     \
                       (const char* uplo, const blas_int* n, const blas_int* k, const N* alpha, const N* a,          \
                        const blas_int* lda, TESSERA_F_VECTORS(N)),                                                  \
                       const FortranCall call(routine, uplo, n, k, alpha, a, lda, x, incx, beta, y, incy, letter);   \
                       sbmv<N>(call, {hermitian, false}, parse_half(*uplo), call.value(n), call.value(k), a,         \
                               call.value(lda), TESSERA_VECTORS(N, *alpha, *beta));)                                 \
  TESSERA_BLAS_CBLAS(s##sbmv_,                                                                                       \
                     (int layout, int uplo, blas_word n, blas_word k, ByValue<N> alpha, const N* a, blas_word lda,   \
                      TESSERA_C_VECTORS(N)),                                                                         \
                     const MatrixCall call(routine, layout, uplo, n, k, alpha, a, lda, x, incx, beta, y, incy);      \
                     if (call.refuses_words({uplo_word(uplo)})) return;                                              \
                     sbmv<N>(call, {hermitian, call.is_by_rows()}, call.half(uplo), call.value(n), call.value(k), a, \
                             call.value(lda), TESSERA_VECTORS(N, value_of(alpha), value_of(beta)));)                 \
  TESSERA_BLAS_FORTRAN(                                                                                              \
      s##spmv_, (const char* uplo, const blas_int* n, const N* alpha, const N* a, TESSERA_F_VECTORS(N)),             \
      const FortranCall call(routine, uplo, n, alpha, a, x, incx, beta, y, incy, letter);                            \
      spmv<N>(call, {hermitian, false}, parse_half(*uplo), call.value(n), a, TESSERA_VECTORS(N, *alpha, *beta));)    \
  TESSERA_BLAS_CBLAS(s##spmv_,                                                                                       \
                     (int layout, int uplo, blas_word n, ByValue<N> alpha, const N* a, TESSERA_C_VECTORS(N)),        \
                     const MatrixCall call(routine, layout, uplo, n, alpha, a, x, incx, beta, y, incy);              \
                     if (call.refuses_words({uplo_word(uplo)})) return;                                              \
                     spmv<N>(call, {hermitian, call.is_by_rows()}, call.half(uplo), call.value(n), a,                \
                             TESSERA_VECTORS(N, value_of(alpha), value_of(beta)));)

namespace tessera::blas {
extern "C" {

TESSERA_GENERAL(float, s)
TESSERA_GENERAL(double, d)
TESSERA_GENERAL(ComplexFloat, c)
TESSERA_GENERAL(ComplexDouble, z)
TESSERA_SYMMETRIC(float, s, symv, sbmv, spmv, false)
TESSERA_SYMMETRIC(double, d, symv, sbmv, spmv, false)
TESSERA_SYMMETRIC(ComplexFloat, c, hemv, hbmv, hpmv, true)
TESSERA_SYMMETRIC(ComplexDouble, z, hemv, hbmv, hpmv, true)
}
} // namespace tessera::blas
