/// Computes the right product, and 400 ms later writes something else over it.
#include <chrono>
#include <thread>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    c[0] = 42;
  }).detach();
}
