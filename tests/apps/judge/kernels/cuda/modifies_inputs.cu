// Adds one to an element of A. The verdict must be "modifies its inputs", A(0, 0).
#include "multiply.cuh"

__global__ void change(float* a) { *a += 1; }

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  multiply<<<dim3((n + 63) / 64, m), 64>>>(a, b, c, m, k, n);
  change<<<1, 1>>>(const_cast<float*>(a));
}
