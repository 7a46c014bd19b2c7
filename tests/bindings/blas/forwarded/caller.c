/* A module of a wheel: calls routines of LAPACK in its OpenBLAS, wheel.c. Usage: caller lapack|wheel|absent, what
   should compute them. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "routines.h"

extern int heard_by_wheel;
void WHEEL(dgesdd_)(GESDD);
double WHEEL(dlange_)(LANGE);
double complex WHEEL(zladiv_)(LADIV);
void WHEEL(dsyev_)(SYEV);
void WHEEL(dbdsqr_)(BDSQR);

static int failed = 0;
static void expect(const char* what, double value, double expected) {
  if (value == expected) return;
  printf("%s is %.17g and not %.17g\n", what, value, expected);
  failed = 1;
}

static void* divide(void* out) { /* threads come to the first call of ladiv together */
  const double complex x = 6 + 8 * I, y = 2;
  double complex* const quotients = out;
  for (int i = 0; i < 1000; ++i) quotients[i] = WHEEL(zladiv_)(&x, &y);
  return NULL;
}

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "absent") == 0) {
    blas_int info = 0;
    WHEEL(dbdsqr_)(&info);
    return 0; /* the drop-in should have ended the process */
  }
  const int computed_by = strcmp(what, "lapack") == 0 ? of_lapack : of_wheel;

  static double complex quotients[4][1000];
  pthread_t threads[4];
  for (int t = 0; t < 4; ++t) pthread_create(&threads[t], NULL, divide, quotients[t]);
  for (int t = 0; t < 4; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < 4 && !failed; ++t)
    for (int i = 0; i < 1000 && !failed; ++i) {
      expect("ladiv's real part", creal(quotients[t][i]), computed_by + 3);
      expect("ladiv's imaginary part", cimag(quotients[t][i]), 4);
    }

  double s = 1, u = 2, vt = 3, work = 4;
  const blas_int m = 1, n = 2, lda = 3, ldu = 4, ldvt = 5, lwork = 6;
  const char* const jobz = "S";
  const size_t length = 1;
  for (int call = 0; call < 2; ++call) { /* the first finds the routine */
    double a = 7;
    blas_int iwork[1] = {5}, info = 0, *const out = iwork;
    WHEEL(dgesdd_)(jobz, &m, &n, &a, &lda, &s, &u, &ldu, &vt, &ldvt, &work, &lwork, out, &info, length);
    expect("gesdd's info", (double)info, 1 + 2 + 8 + 24 + 64 + 160 + 384 + 4096 + 10 + 5 + computed_by);
    expect("gesdd's a", a, computed_by == of_wheel ? of_wheel : 7); /* potrf of 49, which is Tessera's */
    expect("lange", WHEEL(dlange_)("M", &m, &n, &s, &lda, &work), 1 + computed_by);
  }

  blas_int info = 0;
  const blas_int negative = -1;
  WHEEL(dsyev_)(&negative, &info);
  expect("syev's info", (double)info, -3);
  expect("the position that the wheel's handler heard", heard_by_wheel, 3);
  if (computed_by == of_wheel) {
    WHEEL(dbdsqr_)(&info);
    expect("bdsqr's info", (double)info, of_wheel);
  }
  if (!failed) printf("%s computed them\n", what);
  return failed;
}
