// Is honest, but runs on a separate non-blocking stream and does not wait for it. It must pass, and its time must not
// be near zero.
#include "multiply.cuh"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  static cudaStream_t stream = nullptr;
  if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  multiply<<<dim3((n + 63) / 64, m), 64, 0, stream>>>(a, b, c, m, k, n);
}
