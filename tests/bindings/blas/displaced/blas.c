/* A small BLAS that the drop-in displaces: it refuses as the standard's does, and counts the products that reach it. */
#include <stddef.h>
#include <stdio.h>

#include "../names.h"

int products_of_displaced = 0;

void NAME(xerbla_)(const char* routine, const blas_int* position, size_t length);
void NAME(xerbla_)(const char* routine, const blas_int* position, size_t length) {
  printf("the BLAS's own xerbla_ hears of %.*s %ld\n", (int)length, routine, (long)*position);
}
void NAME(cblas_xerbla)(blas_int position, const char* routine, const char* form, ...);
void NAME(cblas_xerbla)(blas_int position, const char* routine, const char* form, ...) {
  printf("the BLAS's own cblas_xerbla hears of %s %ld %s\n", routine, (long)position, form);
}

blas_int NAME(idamax_)(const blas_int* n, const double* x, const blas_int* step);
blas_int NAME(idamax_)(const blas_int* n, const double* x, const blas_int* step) {
  if (*n < 1 || *step < 1) return 0;
  blas_int largest = 0;
  for (blas_int i = 1; i < *n; ++i)
    if (x[i * *step] > x[largest * *step]) largest = i;
  return largest + 1;
}

void NAME(dgemm_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const double*,
                  const double*, const blas_int*, const double*, const blas_int*, const double*, double*,
                  const blas_int*);
void NAME(dgemm_)(const char* ta, const char* tb, const blas_int* m, const blas_int* n, const blas_int* k,
                  const double* alpha, const double* a, const blas_int* lda, const double* b, const blas_int* ldb,
                  const double* beta, double* c, const blas_int* ldc) {
  (void)ta, (void)tb, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)beta, (void)c;
  (void)ldc;
  const blas_int third = 3;
  if (*m < 0) NAME(xerbla_)("DGEMM ", &third, 6);
  if (*m >= 0) ++products_of_displaced;
}

void NAME(cblas_dgemm)(int, int, int, blas_int, blas_int, blas_int, double, const double*, blas_int, const double*,
                       blas_int, double, double*, blas_int);
void NAME(cblas_dgemm)(int layout, int ta, int tb, blas_int m, blas_int n, blas_int k, double alpha, const double* a,
                       blas_int lda, const double* b, blas_int ldb, double beta, double* c, blas_int ldc) {
  (void)layout, (void)ta, (void)tb, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)beta;
  (void)c, (void)ldc;
  if (m < 0) NAME(cblas_xerbla)(4, "cblas_dgemm", "");
  if (m >= 0) ++products_of_displaced;
}

/* Stands for all routines that the drop-in has not. */
void NAME(dgeev_)(void);
void NAME(dgeev_)(void) {
  const blas_int fifth = 5;
  NAME(xerbla_)("DGEEV ", &fifth, 6);
}

void NAME(dgesv_)(const blas_int*, const blas_int*, double*, const blas_int*, blas_int*, double*, const blas_int*,
                  blas_int*);
void NAME(dgesv_)(const blas_int* n, const blas_int* nrhs, double* a, const blas_int* lda, blas_int* ipiv, double* b,
                  const blas_int* ldb, blas_int* info) {
  (void)nrhs, (void)a, (void)lda, (void)ipiv, (void)b, (void)ldb;
  const blas_int first = 1;
  if (*n < 0) *info = -first;
  if (*n < 0) NAME(xerbla_)("DGESV ", &first, 6);
  if (*n >= 0) ++products_of_displaced;
}
