/* The OpenBLAS of a wheel, as far as caller.c calls it. Its results say that it computed them. */
#include <stdio.h>

#include "routines.h"

int heard_by_wheel = 0;

void WHEEL(xerbla_)(const char* routine, const blas_int* position, size_t length);
void WHEEL(xerbla_)(const char* routine, const blas_int* position, size_t length) {
  printf("the wheel's xerbla_ hears of %.*s %ld\n", (int)length, routine, (long)*position);
  heard_by_wheel = (int)*position;
}

void WHEEL(dgesdd_)(GESDD);
void WHEEL(dgesdd_)(GESDD) {
  *info = GESDD_SUM + of_wheel;
  a[0] = of_wheel;
}

double WHEEL(dlange_)(LANGE);
double WHEEL(dlange_)(LANGE) {
  (void)norm, (void)m, (void)n, (void)lda, (void)work;
  return a[0] + of_wheel;
}

double complex WHEEL(zladiv_)(LADIV);
double complex WHEEL(zladiv_)(LADIV) { return *x / *y + of_wheel; }

void WHEEL(dsyev_)(SYEV);
void WHEEL(dsyev_)(SYEV) {
  const blas_int third = 3;
  if (*n < 0) WHEEL(xerbla_)("DSYEV ", &third, 6);
  *info = -3;
}

void WHEEL(dbdsqr_)(BDSQR);
void WHEEL(dbdsqr_)(BDSQR) { *info = of_wheel; }
