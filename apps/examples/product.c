/* A product from C: on the best available backend, then on each backend by name. All results have equal bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

enum { m = 300, n = 200, k = 1500 };

int main(void) {
  float* a = malloc(sizeof(float) * m * k);
  float* b = malloc(sizeof(float) * k * n);
  float* best = malloc(sizeof(float) * m * n);
  float* named = malloc(sizeof(float) * m * n);
  if (a == NULL || b == NULL || best == NULL || named == NULL) return 1;
  for (int i = 0; i < m * k; ++i) a[i] = (float)(i % 17) / 7 - 1;
  for (int i = 0; i < k * n; ++i) b[i] = (float)(i % 23) / 11 - 1;

  int status = 0;
  if (tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, m, n, k, 1, a, k, b, n, 0, best, n, NULL) != TESSERA_OK) {
    fprintf(stderr, "%s\n", tessera_last_error());
    status = 1;
  }
  for (int i = TESSERA_REFERENCE; i <= TESSERA_CUDA && status == 0; ++i) {
    tessera_options options = tessera_default_options();
    options.backend = (tessera_backend)i;
    const char* name = tessera_backend_name(options.backend);
    if (tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, m, n, k, 1, a, k, b, n, 0, named, n, &options) != TESSERA_OK) {
      printf("%-9s  %s\n", name, tessera_last_error());
      continue;
    }
    const int same = memcmp(best, named, sizeof(float) * m * n) == 0;
    printf("%-9s  %s\n", name, same ? "the same bits" : "OTHER BITS");
    status |= !same;
  }
  free(a);
  free(b);
  free(best);
  free(named);
  return status;
}
