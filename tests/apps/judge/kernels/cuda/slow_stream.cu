// Is honest, but puts 20 ms of waiting in front of the product on a stream of its own, and returns at once. It must
// pass, and its time must be at least 20 ms: all streams are waited for.
#include <unistd.h>

#include "multiply.cuh"

static void wait(void*) { usleep(20000); }

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  static cudaStream_t stream = nullptr;
  if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaLaunchHostFunc(stream, wait, nullptr);
  multiply<<<dim3((n + 63) / 64, m), 64, 0, stream>>>(a, b, c, m, k, n);
}
