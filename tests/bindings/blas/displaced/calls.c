/* Calls of a host that is linked with a BLAS and has handlers of its own: its handlers hear of every illegal argument,
 * of the drop-in's routines as of others, and legal products are the drop-in's, whatever integers the BLAS has. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../names.h"

extern char heard[128];
extern int products_of_displaced;

void NAME(dgemm_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const double*,
                  const double*, const blas_int*, const double*, const blas_int*, const double*, double*,
                  const blas_int*);
void NAME(cblas_dgemm)(int, int, int, blas_int, blas_int, blas_int, double, const double*, blas_int, const double*,
                       blas_int, double, double*, blas_int);
void NAME(dgeev_)(void);
void NAME(dgesv_)(const blas_int*, const blas_int*, double*, const blas_int*, blas_int*, double*, const blas_int*,
                  blas_int*);

static int failures = 0;

static void expect_heard(const char* wanted) {
  if (strcmp(heard, wanted) != 0) {
    printf("the handler heard '%s', not '%s'\n", heard, wanted);
    ++failures;
  }
  heard[0] = '\0';
}

static void expect_product(const char* what, const double* c) {
  if (c[0] != 15 || c[1] != 20 || heard[0] != '\0' || products_of_displaced != 0) {
    printf("%s: %g %g, heard '%s', %d products of the displaced BLAS\n", what, c[0], c[1], heard,
           products_of_displaced);
    ++failures;
  }
}

int calls(void);
int calls(void) {
  /* The integers stand side by side, so that integers of another width are read wrongly. */
  blas_int x[] = {2, 1, 1, 2, 1, 2, -1};
  const double one = 1, zero = 0, a[2] = {3, 4}, b[1] = {5};
  double c[2] = {7, 7};
  NAME(dgeev_)();
  expect_heard("DGEEV  5");
  NAME(dgemm_)("N", "N", &x[6], &x[1], &x[2], &one, a, &x[3], b, &x[4], &zero, c, &x[5]);
  expect_heard("DGEMM  3");
  NAME(cblas_dgemm)(col_major, no_trans, no_trans, -1, 1, 1, 1, a, 2, b, 1, 0, c, 2);
  expect_heard("cblas_dgemm 4");
  if (c[0] != 7 || c[1] != 7) ++failures;

  /* LAPACK's integers are written, too: nothing beside them may change. */
  double matrix = 3, right = 6;
  blas_int pivots[2] = {9, 9}, info[2] = {9, 9};
  NAME(dgesv_)(&x[6], &x[1], &matrix, &x[1], pivots, &right, &x[1], info);
  expect_heard("DGESV  1");
  if (info[0] != -1 || info[1] != 9 || matrix != 3 || right != 6) ++failures;
  NAME(dgesv_)(&x[1], &x[1], &matrix, &x[1], pivots, &right, &x[1], info);
  if (info[0] != 0 || info[1] != 9 || pivots[0] != 1 || pivots[1] != 9 || right != 2) {
    printf("dgesv_: info %ld %ld, pivots %ld %ld, x = %g\n", (long)info[0], (long)info[1], (long)pivots[0],
           (long)pivots[1], right);
    ++failures;
  }

  NAME(dgemm_)("N", "N", &x[0], &x[1], &x[2], &one, a, &x[3], b, &x[4], &zero, c, &x[5]);
  expect_product("dgemm_", c);
  memset(c, 0, sizeof c);
  NAME(cblas_dgemm)(col_major, no_trans, no_trans, 2, 1, 1, 1, a, 2, b, 1, 0, c, 2);
  expect_product("cblas_dgemm", c);
  if (sizeof(blas_int) == 8) { /* one column each, so that the large leading dimension is not used */
    const int64_t large = INT64_C(1) << 32;
    x[3] = x[4] = x[5] = (blas_int)large;
    memset(c, 0, sizeof c);
    NAME(dgemm_)("N", "N", &x[0], &x[1], &x[2], &one, a, &x[3], b, &x[4], &zero, c, &x[5]);
    expect_product("dgemm_ with large integers", c);
    memset(c, 0, sizeof c);
    NAME(cblas_dgemm)
    (col_major, no_trans, no_trans, 2, 1, 1, 1, a, (blas_int)large, b, (blas_int)large, 0, c, (blas_int)large);
    expect_product("cblas_dgemm with large integers", c);
  }
  return failures;
}

#ifdef AS_PROGRAM
int main(void) { return calls(); }
#endif
