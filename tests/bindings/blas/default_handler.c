/* The drop-in's own cblas_xerbla, which a program gets that brings none: it names the parameter of the C prototype in
 * either layout, although row-major products report positions as netlib's CBLAS does. Exit status: failed checks. */
#include <stdio.h>
#include <string.h>

#include "names.h"

void NAME(cblas_sgemm)(int, int, int, blas_int, blas_int, blas_int, float, const float*, blas_int, const float*,
                       blas_int, float, float*, blas_int);
void NAME(cblas_sgemm_batch_strided)(int, int, int, blas_int, blas_int, blas_int, float, const float*, blas_int,
                                     blas_int, const float*, blas_int, blas_int, float, float*, blas_int, blas_int,
                                     blas_int);

static const char file[] = "default_handler.txt";

int main(void) {
  const float a[64] = {0};
  float c[64] = {7};
  if (freopen(file, "w", stderr) == NULL) return 99;
  for (int layout = row_major; layout <= col_major; ++layout) {
    NAME(cblas_sgemm)(layout, no_trans, no_trans, -1, 4, 4, 1, a, 4, a, 4, 1, c, 4);
    NAME(cblas_sgemm)(layout, no_trans, no_trans, 4, -1, 4, 1, a, 4, a, 4, 1, c, 4);
    NAME(cblas_sgemm)(layout, no_trans, no_trans, 4, 4, 4, 1, a, 3, a, 4, 1, c, 4);
    NAME(cblas_sgemm)(layout, no_trans, no_trans, 4, 4, 4, 1, a, 4, a, 3, 1, c, 4);
    NAME(cblas_sgemm)(layout, no_trans, no_trans, 4, 4, 4, 1, a, 4, a, 4, 1, c, 3);
    NAME(cblas_sgemm_batch_strided)(layout, no_trans, no_trans, -1, 4, 4, 1, a, 4, 0, a, 4, 0, 1, c, 4, 16, 2);
  }
  fclose(stderr);

  const int expected[] = {4, 5, 9, 11, 14, 4};
  int failures = c[0] == 7 ? 0 : 1;
  FILE* said = fopen(file, "r");
  for (int i = 0; i < 12; ++i) {
    char line[128] = "", wanted[128];
    snprintf(wanted, sizeof(wanted), "Parameter %d to routine cblas_sgemm%s was incorrect\n", expected[i % 6],
             i % 6 == 5 ? "_batch_strided" : "");
    if (said == NULL || fgets(line, sizeof(line), said) == NULL || strcmp(line, wanted) != 0) {
      printf("call %d: '%s', not '%s'\n", i, line, wanted);
      ++failures;
    }
  }
  if (said != NULL) fclose(said);
  remove(file);
  return failures;
}
