/// trmv, tbmv, tpmv, trsv, tbsv and tpsv: x := op(T)·x and x := op(T)⁻¹·x, in both interfaces.

#include "call.hpp"
#include "extensions/linear_algebra/vectors/matrix_vector.hpp"

namespace tessera::blas {
namespace {

enum class Task { Multiply, Solve };

/// The words of a call.
struct Words {
  std::optional<Half> half;
  std::optional<Form> form;
  std::optional<Diagonal> diagonal;
};
Words parse_words(const char* uplo, const char* transa, const char* diag) {
  return {parse_half(*uplo), parse_form(*transa), parse_diagonal(*diag)};
}
template <class Call>
Words words_of(const Call& call, int uplo, int transa, int diag) {
  return {call.half(uplo), call.form(transa), diag == unit ? Diagonal::Unit : Diagonal::Stored};
}

template <class N>
void run(Task task, const Routine& routine, Columns<const N> t, const Words& words, N* x, Index incx) {
  begin(routine, t.rows, 1);
  if (t.rows == 0) return;
  if (*words.diagonal == Diagonal::Unit) t.diagonal = OnDiagonal::One;
  if (task == Task::Multiply)
    vectors::multiply_triangle<N>(t, *words.half, *words.form, stored(x, t.rows, incx));
  else
    vectors::solve_triangle<N>(t, *words.half, *words.form, stored(x, t.rows, incx));
}

template <class N, class Call>
void dense(Task task, const Call& call, const Words& words, Index n, const N* a, Index lda, N* x, Index incx) {
  if (call.refuses({{!words.half, 1},
                    {!words.form, 2},
                    {!words.diagonal, 3},
                    {n < 0, 4},
                    {is_short(lda, n), 6},
                    {incx == 0, 8}}))
    return;
  run<N>(task, call.routine(), vectors::triangle(a, *words.half, n, lda), words, x, incx);
}
template <class N, class Call>
void band(Task task, const Call& call, const Words& words, Index n, Index diagonals, const N* a, Index lda, N* x,
          Index incx) {
  if (call.refuses({{!words.half, 1},
                    {!words.form, 2},
                    {!words.diagonal, 3},
                    {n < 0, 4},
                    {diagonals < 0, 5},
                    {lda < diagonals + 1, 7},
                    {incx == 0, 9}}))
    return;
  run<N>(task, call.routine(), vectors::band_triangle(a, *words.half, n, diagonals, lda), words, x, incx);
}
template <class N, class Call>
void packed(Task task, const Call& call, const Words& words, Index n, const N* a, N* x, Index incx) {
  if (call.refuses({{!words.half, 1}, {!words.form, 2}, {!words.diagonal, 3}, {n < 0, 4}, {incx == 0, 7}})) return;
  run<N>(task, call.routine(), vectors::packed_triangle(a, *words.half, n), words, x, incx);
}

} // namespace
} // namespace tessera::blas

#define TESSERA_F_WORDS const char *uplo, const char *transa, const char *diag
#define TESSERA_C_WORDS int layout, int uplo, int transa, int diag
#define TESSERA_ARE_WORDS \
  { uplo_word(uplo), trans_a_word(3, transa), diag_word(diag) }

/// The routines of a task, whose names after the type are trmv, tbmv and tpmv, or trsv, tbsv and tpsv.
#define TESSERA_TRIANGLE(N, s, dense_, band_, packed_, task)                                                           \
  TESSERA_BLAS_FORTRAN(                                                                                                \
      s##dense_, (TESSERA_F_WORDS, const blas_int* n, const N* a, const blas_int* lda, N* x, const blas_int* incx),    \
      const FortranCall call(routine, uplo, transa, diag, n, a, lda, x, incx, letter, letter, letter);                 \
      dense<N>(Task::task, call, parse_words(uplo, transa, diag), call.value(n), a, call.value(lda), x,                \
               call.value(incx));)                                                                                     \
  TESSERA_BLAS_CBLAS(s##dense_, (TESSERA_C_WORDS, blas_word n, const N* a, blas_word lda, N* x, blas_word incx),       \
                     const MatrixCall call(routine, layout, uplo, transa, diag, n, a, lda, x, incx);                   \
                     if (call.refuses_words(TESSERA_ARE_WORDS)) return;                                                \
                     dense<N>(Task::task, call, words_of(call, uplo, transa, diag), call.value(n), a, call.value(lda), \
                              x, call.value(incx));)                                                                   \
  TESSERA_BLAS_FORTRAN(                                                                                                \
      s##band_,                                                                                                        \
      (TESSERA_F_WORDS, const blas_int* n, const blas_int* k, const N* a, const blas_int* lda, N* x,                   \
       const blas_int* incx),                                                                                          \
      const FortranCall call(routine, uplo, transa, diag, n, k, a, lda, x, incx, letter, letter, letter);              \
      band<N>(Task::task, call, parse_words(uplo, transa, diag), call.value(n), call.value(k), a, call.value(lda), x,  \
              call.value(incx));)                                                                                      \
  TESSERA_BLAS_CBLAS(s##band_,                                                                                         \
                     (TESSERA_C_WORDS, blas_word n, blas_word k, const N* a, blas_word lda, N* x, blas_word incx),     \
                     const MatrixCall call(routine, layout, uplo, transa, diag, n, k, a, lda, x, incx);                \
                     if (call.refuses_words(TESSERA_ARE_WORDS)) return;                                                \
                     band<N>(Task::task, call, words_of(call, uplo, transa, diag), call.value(n), call.value(k), a,    \
                             call.value(lda), x, call.value(incx));)                                                   \
  TESSERA_BLAS_FORTRAN(                                                                                                \
      s##packed_, (TESSERA_F_WORDS, const blas_int* n, const N* a, N* x, const blas_int* incx),                        \
      const FortranCall call(routine, uplo, transa, diag, n, a, x, incx, letter, letter, letter);                      \
      packed<N>(Task::task, call, parse_words(uplo, transa, diag), call.value(n), a, x, call.value(incx));)            \
  TESSERA_BLAS_CBLAS(                                                                                                  \
      s##packed_, (TESSERA_C_WORDS, blas_word n, const N* a, N* x, blas_word incx),                                    \
      const MatrixCall call(routine, layout, uplo, transa, diag, n, a, x, incx);                                       \
      if (call.refuses_words(TESSERA_ARE_WORDS)) return;                                                               \
      packed<N>(Task::task, call, words_of(call, uplo, transa, diag), call.value(n), a, x, call.value(incx));)

#define TESSERA_TRIANGLES(N, s)                      \
  TESSERA_TRIANGLE(N, s, trmv, tbmv, tpmv, Multiply) \
  TESSERA_TRIANGLE(N, s, trsv, tbsv, tpsv, Solve)

namespace tessera::blas {
extern "C" {

TESSERA_TRIANGLES(float, s)
TESSERA_TRIANGLES(double, d)
TESSERA_TRIANGLES(ComplexFloat, c)
TESSERA_TRIANGLES(ComplexDouble, z)
}
} // namespace tessera::blas
