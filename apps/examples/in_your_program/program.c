#include <stdio.h>

#include <tessera/tessera.h>

int main(void) {
  const float a[4] = {1, 2, 3, 4};
  float c[4];
  if (tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, NULL) != TESSERA_OK) return 1;
  printf("a·a = %g %g %g %g\n", c[0], c[1], c[2], c[3]);
  return 0;
}
