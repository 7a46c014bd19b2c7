/* A kernel in plain C that takes only f32 without transposes. It says so, and other calls are shown as rejected.
 *
 *     gemm_compare --kernel cpu_tessera.c --abi tessera --cpu
 */

#include <stddef.h>
#include <tessera/backend/kernel_abi.h>

const char* tessera_kernel_reject(const tessera_kernel_call* x) {
  if (x->type != TESSERA_KERNEL_F32) return "f32 only";
  if (x->trans_a || x->trans_b) return "nothing transposed";
  return NULL;
}

int tessera_kernel(const tessera_kernel_call* x) {
  const float* a = x->a;
  const float* b = x->b;
  float* c = x->c;
  for (int64_t i = 0; i < x->m; ++i) {
    float* row = c + i * x->ldc;
    for (int64_t j = 0; j < x->n; ++j) row[j] = x->beta == 0 ? 0.0f : (float)x->beta * row[j];
    for (int64_t p = 0; p < x->k; ++p) {
      const float left = (float)x->alpha * a[i * x->lda + p];
      for (int64_t j = 0; j < x->n; ++j) row[j] += left * b[p * x->ldb + j];
    }
  }
  return 0;
}
