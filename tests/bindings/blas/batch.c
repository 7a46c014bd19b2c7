/* Batches of the drop-in: strided ones and groups, in C with either layout and in Fortran, against sums of whole
 * numbers, which are exact; illegal arguments by MKL's positions. Exit status: failed checks. */
#include <stdio.h>
#include <string.h>

#include "handlers.h"

#define DECLARE(letter, T)                                                                                            \
  void NAME(cblas_##letter##gemm_batch_strided)(int, int, int, blas_int, blas_int, blas_int, T, const T*, blas_int,   \
                                                blas_int, const T*, blas_int, blas_int, T, T*, blas_int, blas_int,    \
                                                blas_int);                                                            \
  void NAME(cblas_##letter##gemm_batch)(int, const int*, const int*, const blas_int*, const blas_int*,                \
                                        const blas_int*, const T*, const T**, const blas_int*, const T**,             \
                                        const blas_int*, const T*, T**, const blas_int*, blas_int, const blas_int*);  \
  void NAME(letter##gemm_batch_strided_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, \
                                         const T*, const T*, const blas_int*, const blas_int*, const T*,              \
                                         const blas_int*, const blas_int*, const T*, T*, const blas_int*,             \
                                         const blas_int*, const blas_int*);                                           \
  void NAME(letter##gemm_batch_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*,         \
                                 const T*, const T**, const blas_int*, const T**, const blas_int*, const T*, T**,     \
                                 const blas_int*, const blas_int*, const blas_int*);
DECLARE(s, float)
DECLARE(d, double)

enum { ld = 7, size = ld * ld, most = 6 };

static void expect(const char* name, int64_t wanted) {
  if (position != wanted || strcmp(routine, name) != 0) {
    ++failures;
    printf("%s: position %lld told by '%s', must be %lld\n", name, (long long)position, routine, (long long)wanted);
  }
  position = 0;
  routine[0] = '\0';
}

/* Six products' operands, one after the other; element (i, j) of one that is stored with this layout. */
static int at(int layout, int i, int j) { return layout == row_major ? i * ld + j : j * ld + i; }

#define TESTS(T, letter)                                                                                                \
  static T letter##_a[most * size], letter##_b[most * size], letter##_c[most * size];                                   \
  static void letter##_fill(void) {                                                                                     \
    for (int e = 0; e < most * size; ++e) {                                                                             \
      letter##_a[e] = (T)(e % 13 - 6);                                                                                  \
      letter##_b[e] = (T)(e % 11 - 5);                                                                                  \
      letter##_c[e] = (T)(e % 7);                                                                                       \
    }                                                                                                                   \
  }                                                                                                                     \
  /* Products `first` … are alpha·op(A)·op(B) + beta·C of the filled ones, and nothing beside them has changed. */ \
  static void letter##_check(const char* what, int layout, int ta, int tb, int m, int n, int k, T alpha, T beta,        \
                             int first, int count) {                                                                    \
    for (int p = first; p < first + count; ++p)                                                                         \
      for (int i = 0; i < ld; ++i)                                                                                      \
        for (int j = 0; j < ld; ++j) {                                                                                  \
          const int e = p * size + at(layout, i, j);                                                                    \
          T expected = (T)(e % 7);                                                                                      \
          if (i < m && j < n) {                                                                                         \
            T sum = 0;                                                                                                  \
            for (int q = 0; q < k; ++q)                                                                                 \
              sum += letter##_a[p * size + (ta == no_trans ? at(layout, i, q) : at(layout, q, i))] *                    \
                     letter##_b[p * size + (tb == no_trans ? at(layout, q, j) : at(layout, j, q))];                     \
            expected = alpha * sum + beta * expected;                                                                   \
          }                                                                                                             \
          if (letter##_c[e] != expected) {                                                                              \
            ++failures;                                                                                                 \
            printf("%s: product %d, element (%d, %d) is %g, must be %g\n", what, p, i, j, (double)letter##_c[e],        \
                   (double)expected);                                                                                   \
            return;                                                                                                     \
          }                                                                                                             \
        }                                                                                                               \
  }                                                                                                                     \
  static void letter##_strided(int layout, int ta, int tb) {                                                            \
    letter##_fill();                                                                                                    \
    NAME(cblas_##letter##gemm_batch_strided)                                                                            \
    (layout, ta, tb, 5, 4, 6, 2, letter##_a, ld, size, letter##_b, ld, size, -1, letter##_c, ld, size, most);           \
    letter##_check("cblas strided", layout, ta, tb, 5, 4, 6, 2, -1, 0, most);                                           \
    if (layout == row_major) return;                                                                                    \
    letter##_fill();                                                                                                    \
    const blas_int m = 5, n = 4, k = 6, lda = ld, stride = size, count = most;                                          \
    const T alpha = 2, beta = -1;                                                                                       \
    NAME(letter##gemm_batch_strided_)                                                                                   \
    (ta == no_trans ? "n" : "T", tb == no_trans ? "N" : "c", &m, &n, &k, &alpha, letter##_a, &lda, &stride,             \
     letter##_b, &lda, &stride, &beta, letter##_c, &lda, &stride, &count);                                              \
    letter##_check("fortran strided", layout, ta, tb, 5, 4, 6, 2, -1, 0, most);                                         \
  }                                                                                                                     \
  /* Two products of one shape, none of another, three of a third. */                                                   \
  static void letter##_groups(int layout, int fortran) {                                                                \
    letter##_fill();                                                                                                    \
    const int ta[] = {no_trans, trans, trans}, tb[] = {trans, no_trans, no_trans};                                      \
    const blas_int m[] = {3, 1, 6}, n[] = {5, 1, 2}, k[] = {4, 1, 7}, lds[] = {ld, ld, ld}, sizes[] = {2, 0, 3};        \
    const blas_int groups = 3;                                                                                          \
    const T alpha[] = {1, 1, -2}, beta[] = {0, 1, 3};                                                                   \
    const T *a[5], *b[5];                                                                                               \
    T* c[5];                                                                                                            \
    for (int p = 0; p < 5; ++p) {                                                                                       \
      a[p] = letter##_a + p * size;                                                                                     \
      b[p] = letter##_b + p * size;                                                                                     \
      c[p] = letter##_c + p * size;                                                                                     \
    }                                                                                                                   \
    if (fortran)                                                                                                        \
      NAME(letter##gemm_batch_)("NTt", "tNN", m, n, k, alpha, a, lds, b, lds, beta, c, lds, &groups, sizes);            \
    else                                                                                                                \
      NAME(cblas_##letter##gemm_batch)                                                                                  \
    (layout, ta, tb, m, n, k, alpha, a, lds, b, lds, beta, c, lds, groups, sizes);                                      \
    letter##_check("groups", layout, ta[0], tb[0], 3, 5, 4, 1, 0, 0, 2);                                                \
    letter##_check("groups", layout, ta[2], tb[2], 6, 2, 7, -2, 3, 2, 3);                                               \
    letter##_check("beside groups", layout, 0, 0, 0, 0, 0, 0, 0, 5, 1);                                                 \
  }
TESTS(float, s)
TESTS(double, d)

/* m, n, k, lda, stride a, ldb, stride b, ldc, stride c, count: as they are right, one of them wrong. */
static void illegal_strided(int argument, blas_int wrong, int64_t wanted) {
  blas_int x[] = {5, 4, 6, 6, 30, 4, 24, 4, 20, 3};
  x[argument] = wrong;
  NAME(cblas_sgemm_batch_strided)
  (row_major, no_trans, no_trans, x[0], x[1], x[2], 1, s_a, x[3], x[4], s_b, x[5], x[6], 0, s_c, x[7], x[8], x[9]);
  expect("cblas_sgemm_batch_strided", wanted);
  blas_int y[] = {5, 4, 6, 5, 30, 6, 24, 5, 20, 3};
  const double one = 1, zero = 0;
  y[argument] = wrong;
  NAME(dgemm_batch_strided_)
  ("N", "N", &y[0], &y[1], &y[2], &one, d_a, &y[3], &y[4], d_b, &y[5], &y[6], &zero, d_c, &y[7], &y[8], &y[9]);
  expect("DGEMM_BATCH_STRIDED", wanted - 1);
}

/* In the second group: the first must not be written either. */
static void illegal_groups(int argument, blas_int wrong, int64_t wanted) {
  int t[] = {no_trans, no_trans};
  blas_int x[8][2] = {{5, 5}, {4, 4}, {6, 6}, {6, 6}, {4, 4}, {4, 4}, {1, 1}, {2, 2}};
  const float one[] = {1, 1}, zero[] = {0, 0};
  const float* a[] = {s_a, s_a};
  const float* b[] = {s_b, s_b};
  float* c[] = {s_c, s_c + size};
  x[argument][1] = wrong;
  NAME(cblas_sgemm_batch)
  (row_major, t, t, x[0], x[1], x[2], one, a, x[3], b, x[4], zero, c, x[5], x[7][1], x[6]);
  expect("cblas_sgemm_batch", wanted);
}

static void errors(void) {
  s_fill();
  d_fill();
  illegal_strided(0, -1, 4);
  illegal_strided(1, -1, 5);
  illegal_strided(2, -1, 6);
  illegal_strided(3, 3, 9);
  illegal_strided(4, -1, 10);
  illegal_strided(5, 3, 12);
  illegal_strided(6, -1, 13);
  illegal_strided(7, 3, 16);
  illegal_strided(8, 2, 17);
  illegal_strided(9, -1, 18);
  NAME(cblas_dgemm_batch_strided)(7, no_trans, no_trans, 1, 1, 1, 1, d_a, 1, 1, d_b, 1, 1, 0, d_c, 1, 1, 1);
  expect("cblas_dgemm_batch_strided", 1);
  NAME(cblas_dgemm_batch_strided)(row_major, 7, no_trans, 1, 1, 1, 1, d_a, 1, 1, d_b, 1, 1, 0, d_c, 1, 1, 1);
  expect("cblas_dgemm_batch_strided", 2);
  NAME(cblas_dgemm_batch_strided)(col_major, trans, 7, 1, 1, 1, 1, d_a, 1, 1, d_b, 1, 1, 0, d_c, 1, 1, 1);
  expect("cblas_dgemm_batch_strided", 3);
  illegal_groups(0, -1, 4);
  illegal_groups(1, -1, 5);
  illegal_groups(2, -1, 6);
  illegal_groups(3, 5, 9);
  illegal_groups(4, 3, 11);
  illegal_groups(5, 3, 14);
  illegal_groups(7, -1, 15);
  illegal_groups(6, -1, 16);
  s_check("after errors", row_major, 0, 0, 0, 0, 0, 0, 0, 0, most); /* C is as it was */
  d_check("after errors", row_major, 0, 0, 0, 0, 0, 0, 0, 0, most);
}

int main(void) {
  for (int layout = row_major; layout <= col_major; ++layout)
    for (int ta = no_trans; ta <= trans; ++ta)
      for (int tb = no_trans; tb <= trans; ++tb) {
        s_strided(layout, ta, tb);
        d_strided(layout, ta, tb);
      }
  for (int layout = row_major; layout <= col_major; ++layout) {
    s_groups(layout, 0);
    d_groups(layout, 0);
  }
  s_groups(col_major, 1);
  d_groups(col_major, 1);
  if (position != 0) ++failures;
  errors();
  return failures;
}
