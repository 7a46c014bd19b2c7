#pragma once

/* What caller.c calls. A wheel's OpenBLAS has the routines under the names of wheel.c, and lapack.c under LAPACK's own.
 */
#include <complex.h>
#include <stddef.h>

#include "../names.h"

#define ROUTINE(name) name
#define WHEEL(name) NAME(scipy_##name)

/* gesdd's arguments: seven of 15 are on the stack. info is what came through of the others. */
#define GESDD                                                                                                      \
  const char *jobz, const blas_int *m, const blas_int *n, double *a, const blas_int *lda, double *s, double *u,    \
      const blas_int *ldu, double *vt, const blas_int *ldvt, double *work, const blas_int *lwork, blas_int *iwork, \
      blas_int *info, size_t length
#define GESDD_SUM                                                                                                   \
  ((jobz[0] == 'S') + *m * 2 + *n * 4 + *lda * 8 + *ldu * 16 + *ldvt * 32 + *lwork * 64 + (blas_int)length * 4096 + \
   (blas_int)(s[0] + u[0] + vt[0] + work[0]) + iwork[0])
/* lange gives a real number, ladiv a complex one, and syev refuses its third argument. bdsqr is in the wheel alone. */
#define LANGE const char *norm, const blas_int *m, const blas_int *n, const double *a, const blas_int *lda, double *work
#define LADIV const double complex *x, const double complex *y
#define SYEV const blas_int *n, blas_int *info
#define BDSQR blas_int* info

enum { of_wheel = 1 << 20, of_lapack = 1 << 21 };
