/// ger, geru, gerc, syr, her, spr, hpr, syr2, her2, spr2 and hpr2 in both interfaces.

#include "call.hpp"
#include "extensions/linear_algebra/vectors/rank_updates.hpp"

namespace tessera::blas {
namespace {

template <class N>
struct Vector {
  const N* data;
  Index step;

  Strided<const N> of(Index n) const { return stored(data, n, step); }
};

/// A := alpha·x·yᵀ + A, or alpha·x·yᴴ + A.
template <class N>
struct General {
  bool conjugates_y;
  Index m, n;
  N alpha;
  Vector<N> x, y;
  N* a;
  Index lda;

  /// Runs the call, whose matrix lies by rows where is_by_rows. Then its transpose is updated, and x and y change
  /// places; the products' factors stay in order.
  template <class Call>
  void run(const Call& call, bool is_by_rows) const {
    const Vector<N>&u = is_by_rows ? y : x, &v = is_by_rows ? x : y;
    const Index rows = is_by_rows ? n : m, cols = is_by_rows ? m : n;
    if (call.refuses({{rows < 0, 1}, {cols < 0, 2}, {u.step == 0, 5}, {v.step == 0, 7}, {is_short(lda, rows), 9}}))
      return;
    begin(call.routine(), rows, cols);
    if (rows == 0 || cols == 0 || is_zero(alpha)) return;
    vectors::update<N>(vectors::general(a, rows, cols, lda), alpha,
                       {u.of(rows), v.of(cols), conjugates_y && is_by_rows, conjugates_y && !is_by_rows, is_by_rows,
                        is_by_rows}); // alpha scales y
  }
};

/// A triangle to be updated; a row-major one is the transpose's.
template <class N>
struct Updated {
  std::optional<Half> half;
  Index n;
  N* a;
  Index lda; ///< 0: packed
  bool is_by_rows;

  Columns<N> columns() const {
    Columns<N> all = lda == 0 ? vectors::packed_triangle(a, *half, n) : vectors::triangle(a, *half, n, lda);
    if (vectors::has_two_parts<N>) all.diagonal = OnDiagonal::Real;
    return all;
  }
  /// The stored element (i, j) is element (i, j) of A, or element (j, i), whose product is left·conj(right) or the
  /// transpose's: real products have no conjugates. Alpha scales the factor of the smaller index, so that a triangle
  /// and the transpose of the other one have the same bits.
  vectors::Outer<N> outer(const Vector<N>& left, const Vector<N>& right) const {
    constexpr bool conjugates = vectors::has_two_parts<N>;
    const bool scales_u = *half == Half::Upper;
    if (is_by_rows) return {right.of(n), left.of(n), conjugates, false, true, scales_u};
    return {left.of(n), right.of(n), false, conjugates, false, scales_u};
  }
};

/// A := alpha·x·xᴴ + A.
template <class N, class Call>
void rank_1(const Call& call, const Updated<N>& to, RealOf<N> alpha, const Vector<N>& x, bool is_packed) {
  if (call.refuses({{!to.half, 1}, {to.n < 0, 2}, {x.step == 0, 5}, {!is_packed && is_short(to.lda, to.n), 7}})) return;
  begin(call.routine(), to.n, 1);
  if (to.n == 0 || is_zero(alpha)) return;
  N factor{};
  parts_of(&factor)[0] = alpha;
  vectors::update<N>(to.columns(), factor, to.outer(x, x));
}

/// A := alpha·x·yᴴ + A, and then conj(alpha)·y·xᴴ + A. A row-major Hermitian call is refused by the positions of the
/// call with x and y in the other's place, as netlib's is.
template <class N, class Call>
void rank_2(const Call& call, const Updated<N>& to, const N& alpha, const Vector<N>& x, const Vector<N>& y,
            bool is_packed) {
  const bool swapped = vectors::has_two_parts<N> && to.is_by_rows;
  if (call.refuses({{!to.half, 1},
                    {to.n < 0, 2},
                    {(swapped ? y : x).step == 0, 5},
                    {(swapped ? x : y).step == 0, 7},
                    {!is_packed && is_short(to.lda, to.n), 9}}))
    return;
  begin(call.routine(), to.n, 1);
  if (to.n == 0 || is_zero(alpha)) return;
  N other = alpha;
  if constexpr (vectors::has_two_parts<N>) other = conjugate(alpha);
  vectors::update<N>(to.columns(), alpha, to.outer(x, y), other, to.outer(y, x));
}

} // namespace
} // namespace tessera::blas

#define TESSERA_F_TWO(N) const N *x, const blas_int *incx, const N *y, const blas_int *incy
#define TESSERA_C_TWO(N) const N *x, blas_word incx, const N *y, blas_word incy
#define TESSERA_X(N) \
  Vector<N> { x, call.value(incx) }
#define TESSERA_Y(N) \
  Vector<N> { y, call.value(incy) }

#define TESSERA_GER(N, name, conjugates_y)                                                                           \
  TESSERA_BLAS_FORTRAN(                                                                                              \
      name, (const blas_int* m, const blas_int* n, const N* alpha, TESSERA_F_TWO(N), N* a, const blas_int* lda),     \
      const FortranCall call(routine, m, n, alpha, x, incx, y, incy, a, lda);                                        \
      General<N>{conjugates_y, call.value(m), call.value(n), *alpha, TESSERA_X(N), TESSERA_Y(N), a, call.value(lda)} \
          .run(call, false);)                                                                                        \
  TESSERA_BLAS_CBLAS(                                                                                                \
      name, (int layout, blas_word m, blas_word n, ByValue<N> alpha, TESSERA_C_TWO(N), N* a, blas_word lda),         \
      const MatrixCall call(routine, layout, m, n, alpha, x, incx, y, incy, a, lda);                                 \
      if (call.refuses_words({})) return; General<N>{conjugates_y, call.value(m), call.value(n), value_of(alpha),    \
                                                     TESSERA_X(N), TESSERA_Y(N), a, call.value(lda)}                 \
                                              .run(call, call.is_by_rows());)

/// The routines' names after the type: syr, spr, syr2 and spr2, or her, hpr, her2 and hpr2.
#define TESSERA_RANK(N, R, s, syr_, spr_, syr2_, spr2_)                                                                \
  TESSERA_BLAS_FORTRAN(                                                                                                \
      s##syr_,                                                                                                         \
      (const char* uplo, const blas_int* n, const R* alpha, const N* x, const blas_int* incx, N* a,                    \
       const blas_int* lda),                                                                                           \
      const FortranCall call(routine, uplo, n, alpha, x, incx, a, lda, letter);                                        \
      rank_1<N>(call, {parse_half(*uplo), call.value(n), a, call.value(lda), false}, *alpha, TESSERA_X(N), false);)    \
  TESSERA_BLAS_CBLAS(                                                                                                  \
      s##syr_, (int layout, int uplo, blas_word n, R alpha, const N* x, blas_word incx, N* a, blas_word lda),          \
      const MatrixCall call(routine, layout, uplo, n, alpha, x, incx, a, lda);                                         \
      if (call.refuses_words({uplo_word(uplo)})) return; rank_1<N>(                                                    \
          call, {call.half(uplo), call.value(n), a, call.value(lda), call.is_by_rows()}, alpha, TESSERA_X(N), false);) \
  TESSERA_BLAS_FORTRAN(s##spr_,                                                                                        \
                       (const char* uplo, const blas_int* n, const R* alpha, const N* x, const blas_int* incx, N* a),  \
                       const FortranCall call(routine, uplo, n, alpha, x, incx, a, letter);                            \
                       rank_1<N>(call, {parse_half(*uplo), call.value(n), a, 0, false}, *alpha, TESSERA_X(N), true);)  \
  TESSERA_BLAS_CBLAS(s##spr_, (int layout, int uplo, blas_word n, R alpha, const N* x, blas_word incx, N* a),          \
                     const MatrixCall call(routine, layout, uplo, n, alpha, x, incx, a);                               \
                     if (call.refuses_words({uplo_word(uplo)})) return; rank_1<N>(                                     \
                         call, {call.half(uplo), call.value(n), a, 0, call.is_by_rows()}, alpha, TESSERA_X(N), true);) \
  TESSERA_BLAS_FORTRAN(                                                                                                \
      s##syr2_, (const char* uplo, const blas_int* n, const N* alpha, TESSERA_F_TWO(N), N* a, const blas_int* lda),    \
      const FortranCall call(routine, uplo, n, alpha, x, incx, y, incy, a, lda, letter);                               \
      rank_2<N>(call, {parse_half(*uplo), call.value(n), a, call.value(lda), false}, *alpha, TESSERA_X(N),             \
                TESSERA_Y(N), false);)                                                                                 \
  TESSERA_BLAS_CBLAS(s##syr2_,                                                                                         \
                     (int layout, int uplo, blas_word n, ByValue<N> alpha, TESSERA_C_TWO(N), N* a, blas_word lda),     \
                     const MatrixCall call(routine, layout, uplo, n, alpha, x, incx, y, incy, a, lda);                 \
                     if (call.refuses_words({uplo_word(uplo)})) return;                                                \
                     rank_2<N>(call, {call.half(uplo), call.value(n), a, call.value(lda), call.is_by_rows()},          \
                               value_of(alpha), TESSERA_X(N), TESSERA_Y(N), false);)                                   \
  TESSERA_BLAS_FORTRAN(                                                                                                \
      s##spr2_, (const char* uplo, const blas_int* n, const N* alpha, TESSERA_F_TWO(N), N* a),                         \
      const FortranCall call(routine, uplo, n, alpha, x, incx, y, incy, a, letter);                                    \
      rank_2<N>(call, {parse_half(*uplo), call.value(n), a, 0, false}, *alpha, TESSERA_X(N), TESSERA_Y(N), true);)     \
  TESSERA_BLAS_CBLAS(s##spr2_, (int layout, int uplo, blas_word n, ByValue<N> alpha, TESSERA_C_TWO(N), N* a),          \
                     const MatrixCall call(routine, layout, uplo, n, alpha, x, incx, y, incy, a);                      \
                     if (call.refuses_words({uplo_word(uplo)})) return;                                                \
                     rank_2<N>(call, {call.half(uplo), call.value(n), a, 0, call.is_by_rows()}, value_of(alpha),       \
                               TESSERA_X(N), TESSERA_Y(N), true);)

namespace tessera::blas {
extern "C" {

TESSERA_GER(float, sger, false)
TESSERA_GER(double, dger, false)
TESSERA_GER(ComplexFloat, cgeru, false)
TESSERA_GER(ComplexFloat, cgerc, true)
TESSERA_GER(ComplexDouble, zgeru, false)
TESSERA_GER(ComplexDouble, zgerc, true)
TESSERA_RANK(float, float, s, syr, spr, syr2, spr2)
TESSERA_RANK(double, double, d, syr, spr, syr2, spr2)
TESSERA_RANK(ComplexFloat, float, c, her, hpr, her2, hpr2)
TESSERA_RANK(ComplexDouble, double, z, her, hpr, her2, hpr2)
}
} // namespace tessera::blas
