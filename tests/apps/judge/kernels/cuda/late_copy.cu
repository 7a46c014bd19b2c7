// Returns at once; a host thread launches the work 10 ms later. The verdict must be "writes after it returned".
#include <chrono>
#include <thread>

#include "multiply.cuh"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    multiply<<<dim3((n + 63) / 64, m), 64>>>(a, b, c, m, k, n);
  }).detach();
}
