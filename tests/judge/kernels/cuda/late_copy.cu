// Returns at once; a host thread launches the work 10 ms later. The verdict must be "writes after it returned".
#include <chrono>
#include <thread>

__global__ void multiply(const float* a, const float* b, float* c, int m, int k, int n) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = static_cast<int>(blockIdx.y);
  if (j >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
  c[i * n + j] = sum;
}

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    multiply<<<dim3((n + 63) / 64, m), 64>>>(a, b, c, m, k, n);
  }).detach();
}
