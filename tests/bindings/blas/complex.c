/* Complex products through the BLAS's own interfaces, as real.c has the real ones: every op and layout against sums of
 * whole numbers, illegal arguments by their positions, and a C that must not be read. Exit status: failed checks. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "handlers.h"

void NAME(cgemm_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const float complex*,
                  const float complex*, const blas_int*, const float complex*, const blas_int*, const float complex*,
                  float complex*, const blas_int*);
void NAME(zgemm_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const double complex*,
                  const double complex*, const blas_int*, const double complex*, const blas_int*, const double complex*,
                  double complex*, const blas_int*);
void NAME(cblas_cgemm)(int, int, int, blas_int, blas_int, blas_int, const void*, const void*, blas_int, const void*,
                       blas_int, const void*, void*, blas_int);
void NAME(cblas_zgemm)(int, int, int, blas_int, blas_int, blas_int, const void*, const void*, blas_int, const void*,
                       blas_int, const void*, void*, blas_int);

enum { m = 5, n = 4, k = 7, ld = 9 };

/* Element (i, j) of a matrix that is stored with this layout. */
static int at(int layout, int i, int j) { return layout == row_major ? i * ld + j : j * ld + i; }

static double complex op_at(const double complex* x, int layout, int op, int i, int j) {
  if (op == no_trans) return x[at(layout, i, j)];
  const double complex stored = x[at(layout, j, i)];
  return op == conj_trans ? conj(stored) : stored;
}

static void check(int layout, int op_a, int op_b, int fortran, int f64, double complex alpha, double complex beta) {
  double complex za[ld * ld], zb[ld * ld], zc[ld * ld], expected[ld * ld];
  float complex ca[ld * ld], cb[ld * ld], cc[ld * ld];
  for (int i = 0; i < ld * ld; ++i) {
    ca[i] = (float complex)(za[i] = (i % 13 - 6) + (i % 5 - 2) * I);
    cb[i] = (float complex)(zb[i] = (i % 11 - 5) + (i % 3 - 1) * I);
    expected[i] = cc[i] = (float complex)(zc[i] = i % 7 + (i % 6) * I);
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double complex sum = 0;
      for (int p = 0; p < k; ++p) sum += op_at(za, layout, op_a, i, p) * op_at(zb, layout, op_b, p, j);
      const int place = at(layout, i, j);
      expected[place] = alpha * sum + beta * expected[place];
      if (beta == 0) cc[place] = (float complex)(zc[place] = NAN + NAN * I); /* must not be read */
    }
  const blas_int mm = m, nn = n, kk = k, lda = ld;
  const char* letters = "NTC";
  const char* letter_a = letters + (op_a - no_trans);
  const char* letter_b = letters + (op_b - no_trans);
  const float complex calpha = (float complex)alpha, cbeta = (float complex)beta;
  if (fortran && f64)
    NAME(zgemm_)(letter_a, letter_b, &mm, &nn, &kk, &alpha, za, &lda, zb, &lda, &beta, zc, &lda);
  else if (fortran)
    NAME(cgemm_)(letter_a, letter_b, &mm, &nn, &kk, &calpha, ca, &lda, cb, &lda, &cbeta, cc, &lda);
  else if (f64)
    NAME(cblas_zgemm)(layout, op_a, op_b, m, n, k, &alpha, za, ld, zb, ld, &beta, zc, ld);
  else
    NAME(cblas_cgemm)(layout, op_a, op_b, m, n, k, &calpha, ca, ld, cb, ld, &cbeta, cc, ld);
  for (int i = 0; i < ld * ld; ++i) {
    const double complex got = f64 ? zc[i] : (double complex)cc[i];
    if (got == expected[i]) continue;
    fprintf(stderr, "layout %d, ops %d %d, fortran %d, f64 %d, beta %g, place %d: %g + %gi, not %g + %gi\n", layout,
            op_a, op_b, fortran, f64, creal(beta), i, creal(got), cimag(got), creal(expected[i]), cimag(expected[i]));
    ++failures;
    return;
  }
}

static void refused(int64_t expected, const char* name, float complex c) {
  if (position != expected || strcmp(routine, name) != 0 || c != 7) {
    fprintf(stderr, "%s refuses position %ld as '%s' %ld\n", name, (long)expected, routine, (long)position);
    ++failures;
  }
  position = 0;
  routine[0] = '\0';
}

static void illegal_arguments(void) {
  float complex a[64] = {0}, c[64] = {7};
  const float complex one = 1;
  const blas_int good = 4, bad = -1, small = 3;
#define F(position, ta, tb, m_, n_, k_, lda_, ldb_, ldc_)                                    \
  NAME(cgemm_)(ta, tb, &(m_), &(n_), &(k_), &one, a, &(lda_), a, &(ldb_), &one, c, &(ldc_)); \
  refused(position, "CGEMM ", c[0])
  F(1, "X", "N", good, good, good, good, good, good);
  F(2, "N", "q", good, good, good, good, good, good);
  F(3, "C", "N", bad, good, good, good, good, good);
  F(4, "N", "c", good, bad, good, good, good, good);
  F(5, "N", "N", good, good, bad, good, good, good);
  F(8, "c", "N", good, good, good, small, good, good);
  F(10, "N", "C", good, good, good, good, small, good);
  F(13, "N", "N", good, good, good, good, good, small);
#define C(position, layout, ta, tb, m_, n_, k_, lda_, ldb_, ldc_)                       \
  NAME(cblas_cgemm)(layout, ta, tb, m_, n_, k_, &one, a, lda_, a, ldb_, &one, c, ldc_); \
  refused(position, "cblas_cgemm", c[0])
  C(1, 100, no_trans, no_trans, 4, 4, 4, 4, 4, 4);
  C(2, row_major, 110, no_trans, 4, 4, 4, 4, 4, 4);
  C(3, row_major, no_trans, 114, 4, 4, 4, 4, 4, 4);
  C(5, row_major, no_trans, no_trans, -1, 4, 4, 4, 4, 4);
  C(4, row_major, no_trans, no_trans, 4, -1, 4, 4, 4, 4);
  C(6, row_major, no_trans, no_trans, 4, 4, -1, 4, 4, 4);
  C(9, col_major, conj_trans, no_trans, 2, 4, 4, 3, 4, 4);
  C(9, row_major, no_trans, conj_trans, 4, 2, 4, 4, 3, 4);
  C(14, row_major, no_trans, no_trans, 2, 4, 4, 4, 4, 3);
}

int main(void) {
  const double complex factors[][2] = {{1, 0}, {2, -1}, {1 - 2 * I, 0}, {2, I}, {1 - 2 * I, 3 + I}, {0, 2 - I}, {0, 0}};
  for (size_t f = 0; f < sizeof(factors) / sizeof(factors[0]); ++f)
    for (int f64 = 0; f64 < 2; ++f64)
      for (int a = no_trans; a <= conj_trans; ++a)
        for (int b = no_trans; b <= conj_trans; ++b) {
          check(row_major, a, b, 0, f64, factors[f][0], factors[f][1]);
          check(col_major, a, b, 0, f64, factors[f][0], factors[f][1]);
          check(col_major, a, b, 1, f64, factors[f][0], factors[f][1]);
        }
  if (position != 0) ++failures;
  illegal_arguments();
  return failures;
}
