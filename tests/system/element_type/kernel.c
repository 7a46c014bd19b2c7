/** A kernel from outside for the stand-in: by the leetgpu interface, and by tessera's. */
#include <tessera/backend/kernel_abi.h>

void solve_f16e6(const void* a, const void* b, void* c, int m, int n, int k);
void solve_f16e6(const void* a, const void* b, void* c, int m, int n, int k) {
  (void)a, (void)b, (void)c, (void)m, (void)n, (void)k;
}

int tessera_kernel(const tessera_kernel_call* call) { return call->type == TESSERA_KERNEL_F16E6 ? 0 : 1; }
