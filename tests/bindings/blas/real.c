/* The drop-in through the BLAS's own interfaces: every transpose and layout against sums of whole numbers, which are
 * exact, and illegal arguments by their positions, told to this program's own handlers. Exit status: failed checks. */
#include <stdio.h>
#include <string.h>

#include "handlers.h"

void NAME(sgemm_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const float*,
                  const float*, const blas_int*, const float*, const blas_int*, const float*, float*, const blas_int*);
void NAME(dgemm_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const double*,
                  const double*, const blas_int*, const double*, const blas_int*, const double*, double*,
                  const blas_int*);
void NAME(cblas_sgemm)(int, int, int, blas_int, blas_int, blas_int, float, const float*, blas_int, const float*,
                       blas_int, float, float*, blas_int);
void NAME(cblas_dgemm)(int, int, int, blas_int, blas_int, blas_int, double, const double*, blas_int, const double*,
                       blas_int, double, double*, blas_int);

enum { m = 5, n = 4, k = 7, ld = 9 };

/* Element (i, j) of a matrix that is stored with this layout. */
static int at(int layout, int i, int j) { return layout == row_major ? i * ld + j : j * ld + i; }

static void check(int layout, int trans_a, int trans_b, int fortran, int f64) {
  float a[ld * ld], b[ld * ld], c[ld * ld];
  double da[ld * ld], db[ld * ld], dc[ld * ld];
  for (int i = 0; i < ld * ld; ++i) {
    da[i] = a[i] = (float)(i % 13 - 6);
    db[i] = b[i] = (float)(i % 11 - 5);
    dc[i] = c[i] = (float)(i % 7);
  }
  const blas_int mm = m, nn = n, kk = k, lda = ld;
  const float two = 2, minus = -1;
  const double dtwo = 2, dminus = -1;
  const char* letters = "NTC";
  const char* op_a = letters + (trans_a - no_trans);
  const char* op_b = letters + (trans_b - no_trans);
  if (fortran && f64)
    NAME(dgemm_)(op_a, op_b, &mm, &nn, &kk, &dtwo, da, &lda, db, &lda, &dminus, dc, &lda);
  else if (fortran)
    NAME(sgemm_)(op_a, op_b, &mm, &nn, &kk, &two, a, &lda, b, &lda, &minus, c, &lda);
  else if (f64)
    NAME(cblas_dgemm)(layout, trans_a, trans_b, m, n, k, 2, da, ld, db, ld, -1, dc, ld);
  else
    NAME(cblas_sgemm)(layout, trans_a, trans_b, m, n, k, 2, a, ld, b, ld, -1, c, ld);
  for (int i = 0; i < ld; ++i)
    for (int j = 0; j < ld; ++j) {
      const int place = at(layout, i, j);
      double expected = place % 7;
      if (i < m && j < n) {
        double sum = 0;
        for (int p = 0; p < k; ++p)
          sum += da[trans_a == no_trans ? at(layout, i, p) : at(layout, p, i)] *
                 db[trans_b == no_trans ? at(layout, p, j) : at(layout, j, p)];
        expected = 2 * sum - expected;
      }
      if ((f64 ? dc[place] : (double)c[place]) == expected) continue;
      fprintf(stderr, "layout %d, ops %d %d, fortran %d, f64 %d, element (%d, %d): %g, not %g\n", layout, trans_a,
              trans_b, fortran, f64, i, j, f64 ? dc[place] : (double)c[place], expected);
      ++failures;
      return;
    }
}

static void refused(int64_t expected, const char* name, const float* c) {
  if (position != expected || strcmp(routine, name) != 0 || c[0] != 7) {
    fprintf(stderr, "%s refuses position %ld as '%s' %ld, c[0] = %g\n", name, (long)expected, routine, (long)position,
            c[0]);
    ++failures;
  }
  position = 0;
  routine[0] = '\0';
}

static void illegal_arguments(void) {
  float a[64] = {0}, c[64] = {7};
  const float one = 1;
  const blas_int good = 4, bad = -1, small = 3, zero = 0;
#define F(position, ta, tb, m_, n_, k_, lda_, ldb_, ldc_)                                    \
  NAME(sgemm_)(ta, tb, &(m_), &(n_), &(k_), &one, a, &(lda_), a, &(ldb_), &one, c, &(ldc_)); \
  refused(position, "SGEMM ", c)
  F(1, "X", "N", good, good, good, good, good, good);
  F(2, "N", "q", good, good, good, good, good, good);
  F(3, "N", "N", bad, good, good, good, good, good);
  F(4, "N", "N", good, bad, good, good, good, good);
  F(5, "N", "N", good, good, bad, good, good, good);
  F(8, "N", "N", good, good, good, small, good, good);
  F(10, "N", "t", good, good, good, good, small, good);
  F(13, "N", "N", good, good, good, good, good, small);
  F(8, "N", "N", zero, good, good, zero, good, good);
#define C(position, layout, ta, tb, m_, n_, k_, lda_, ldb_, ldc_)                 \
  NAME(cblas_sgemm)(layout, ta, tb, m_, n_, k_, 1, a, lda_, a, ldb_, 1, c, ldc_); \
  refused(position, "cblas_sgemm", c)
  C(1, 100, no_trans, no_trans, 4, 4, 4, 4, 4, 4);
  C(2, row_major, 110, no_trans, 4, 4, 4, 4, 4, 4);
  C(3, row_major, no_trans, 114, 4, 4, 4, 4, 4, 4);
  C(5, row_major, no_trans, no_trans, -1, 4, 4, 4, 4, 4);
  C(4, row_major, no_trans, no_trans, 4, -1, 4, 4, 4, 4);
  C(6, row_major, no_trans, no_trans, 4, 4, -1, 4, 4, 4);
  C(11, row_major, no_trans, no_trans, 2, 4, 4, 3, 4, 4);
  C(9, col_major, trans, no_trans, 2, 4, 4, 3, 4, 4);
  C(9, row_major, no_trans, no_trans, 4, 4, 2, 4, 3, 4);
  C(11, col_major, no_trans, trans, 4, 4, 2, 4, 3, 4);
  C(14, row_major, no_trans, no_trans, 2, 4, 4, 4, 4, 3);
  C(14, col_major, no_trans, no_trans, 4, 2, 4, 4, 4, 3);
}

int main(void) {
  for (int f64 = 0; f64 < 2; ++f64)
    for (int a = no_trans; a <= conj_trans; ++a)
      for (int b = no_trans; b <= conj_trans; ++b) {
        check(row_major, a, b, 0, f64);
        check(col_major, a, b, 0, f64);
        check(col_major, a, b, 1, f64);
      }
  if (position != 0) ++failures;
  illegal_arguments();
  return failures;
}
