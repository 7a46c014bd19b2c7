// Computes once and returns that product again in later calls. The verdict must be "cached answer".
#include "multiply.cuh"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  static float* answer = nullptr;
  const size_t bytes = sizeof(float) * static_cast<size_t>(m) * static_cast<size_t>(n);
  if (answer == nullptr) {
    multiply<<<dim3((n + 63) / 64, m), 64>>>(a, b, c, m, k, n);
    cudaMalloc(&answer, bytes);
    cudaMemcpy(answer, c, bytes, cudaMemcpyDeviceToDevice);
    return;
  }
  cudaMemcpyAsync(c, answer, bytes, cudaMemcpyDeviceToDevice);
}
