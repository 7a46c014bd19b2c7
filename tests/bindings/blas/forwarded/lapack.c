/* A LAPACK that imports its BLAS, or one that has it inside (BLAS_INSIDE), as far as caller.c calls it. Its own potrf_
   and xerbla_ must not run under the drop-in. Integers have 64 bits with WIDE, under the same names. */
#include <stdio.h>
#include <stdlib.h>

#ifdef WIDE
#define TESSERA_BLAS_WIDE
#endif
#undef TESSERA_BLAS_64
#include "routines.h"

#ifdef BLAS_INSIDE
#define BLAS(name) \
  static void name(const char* side) { printf("%s", side); }
#else
#define BLAS(name) void name(const char* side);
#endif
#define TYPES(routine) BLAS(s##routine) BLAS(d##routine) BLAS(c##routine) BLAS(z##routine)
#define CALLS(routine) s##routine("L"), d##routine("L"), c##routine("L"), z##routine("L")

TYPES(gemm_)
TYPES(gemv_)
TYPES(trsm_)
TYPES(trmm_)
void xerbla_(const char* routine, const blas_int* position, size_t length);
void dpotrf_(const char* uplo, const blas_int* n, double* a, const blas_int* lda, blas_int* info, size_t length);

/* The calls that make the linker import the BLAS. */
void dhgeqz_(void);
void dhgeqz_(void) { CALLS(gemm_), CALLS(gemv_), CALLS(trsm_), CALLS(trmm_); }

void xerbla_(const char* routine, const blas_int* position, size_t length) {
  fprintf(stderr, "the LAPACK's own xerbla_ ends the process: %.*s %ld\n", (int)length, routine, (long)*position);
  exit(9);
}
void dpotrf_(const char* uplo, const blas_int* n, double* a, const blas_int* lda, blas_int* info, size_t length) {
  (void)uplo, (void)n, (void)a, (void)lda, (void)length;
  *info = 99;
}

void dlaset_(const char* uplo, const blas_int* m, const blas_int* n, const double* alpha, const double* beta, double* a,
             const blas_int* lda, size_t length);
void dlaset_(const char* uplo, const blas_int* m, const blas_int* n, const double* alpha, const double* beta, double* a,
             const blas_int* lda, size_t length) {
  (void)uplo, (void)length;
  for (blas_int j = 0; j < *n; ++j)
    for (blas_int i = 0; i < *m && i <= j; ++i) a[i + j * *lda] = i == j ? *beta : *alpha;
}

void dgesdd_(GESDD);
void dgesdd_(GESDD) {
  *info = GESDD_SUM + of_lapack;
  double positive[1] = {a[0] * a[0]};
  const blas_int one = 1;
  blas_int failed = -1;
  dpotrf_("L", &one, positive, &one, &failed, 1);
  a[0] = failed == 0 ? positive[0] : -1;
}

double dlange_(LANGE);
double dlange_(LANGE) {
  (void)norm, (void)m, (void)n, (void)lda, (void)work;
  return a[0] + of_lapack;
}

double complex zladiv_(LADIV);
double complex zladiv_(LADIV) { return *x / *y + of_lapack; }

void dsyev_(SYEV);
void dsyev_(SYEV) {
  const blas_int third = 3;
  if (*n < 0) xerbla_("DSYEV ", &third, 6);
  *info = -3;
}
