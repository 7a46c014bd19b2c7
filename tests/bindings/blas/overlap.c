/* A result that overlaps an operand ends the program, and the message names the operand that the program passed, with
 * its sizes, in either layout. The argument is the number of the case; A is 6x4, B is 4x8, C is 6x8. */
#include <stdio.h>
#include <stdlib.h>

#include "names.h"

void NAME(dgemm_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const double*,
                  const double*, const blas_int*, const double*, const blas_int*, const double*, double*,
                  const blas_int*);
void NAME(zgemm_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const double*,
                  const double*, const blas_int*, const double*, const blas_int*, const double*, double*,
                  const blas_int*);
void NAME(cblas_dgemm)(int, int, int, blas_int, blas_int, blas_int, double, const double*, blas_int, const double*,
                       blas_int, double, double*, blas_int);
void NAME(cblas_dgemm_batch)(int, const int*, const int*, const blas_int*, const blas_int*, const blas_int*,
                             const double*, const double**, const blas_int*, const double**, const blas_int*,
                             const double*, double**, const blas_int*, blas_int, const blas_int*);
void NAME(dgemm_batch_strided_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*,
                                const double*, const double*, const blas_int*, const blas_int*, const double*,
                                const blas_int*, const blas_int*, const double*, double*, const blas_int*,
                                const blas_int*, const blas_int*);

enum { ld = 20 };
static double whole[2 * ld * ld], others[2 * ld * ld];

int main(int count, char** arguments) {
  const int number = count > 1 ? atoi(arguments[1]) : 0, of_a = number % 2 == 0;
  const blas_int m = 6, n = 8, k = 4, lda = ld, stride = 1, one = 1;
  const double alpha[2] = {1, 0}, beta[2] = {0, 0};
  const double* const a = of_a ? whole : others;
  const double* const b = of_a ? others : whole;
  double* const c = whole + 3 * ld + 3;
  const int none = no_trans;
  const double *as[1] = {a}, *bs[1] = {b};
  double* cs[1] = {c};
  switch (number / 2) {
    case 0:
      NAME(dgemm_)("N", "N", &m, &n, &k, alpha, a, &lda, b, &lda, beta, c, &lda);
      break;
    case 1:
      NAME(zgemm_)("N", "N", &m, &n, &k, alpha, a, &lda, b, &lda, beta, c, &lda);
      break;
    case 2:
      NAME(cblas_dgemm)(col_major, no_trans, no_trans, m, n, k, 1, a, ld, b, ld, 0, c, ld);
      break;
    case 3:
      NAME(cblas_dgemm)(row_major, no_trans, no_trans, m, n, k, 1, a, ld, b, ld, 0, c, ld);
      break;
    case 4:
      NAME(cblas_dgemm_batch)
      (col_major, &none, &none, &m, &n, &k, alpha, as, &lda, bs, &lda, beta, cs, &lda, 1, &one);
      break;
    default:
      NAME(dgemm_batch_strided_)
      ("N", "N", &m, &n, &k, alpha, a, &lda, &stride, b, &lda, &stride, beta, c, &lda, &stride, &one);
  }
  puts("the program went on");
  return 0;
}
