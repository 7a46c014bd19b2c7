/// With --abi tessera: clears whole rows of C with their padding, says that it takes f32 only, and fails for k = 13.
#include <tessera/backend/kernel_abi.h>

extern "C" const char* tessera_kernel_reject(const tessera_kernel_call* call) {
  return call->type == TESSERA_KERNEL_F32 ? nullptr : "f32 only";
}

extern "C" int tessera_kernel(const tessera_kernel_call* call) {
  const tessera_kernel_call& x = *call;
  if (x.k == 13) return 42;
  const float* a = static_cast<const float*>(x.a);
  const float* b = static_cast<const float*>(x.b);
  float* c = static_cast<float*>(x.c);
  for (int64_t i = 0; i < x.m; ++i) {
    for (int64_t j = 0; j < x.ldc; ++j) c[i * x.ldc + j] = 0;
    for (int64_t p = 0; p < x.k; ++p)
      for (int64_t j = 0; j < x.n; ++j) c[i * x.ldc + j] += a[i * x.lda + p] * b[p * x.ldb + j];
  }
  return 0;
}
