/// Is honest, starts threads that end before it returns, and keeps its scratch memory.
#include <thread>
#include <vector>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  static std::vector<float> scratch;
  scratch.assign(b, b + static_cast<long>(k) * n);
  const int half = m / 2;
  std::thread other([=] { product(a, scratch.data(), c, half, n, k); });
  product(a + static_cast<long>(half) * k, scratch.data(), c + static_cast<long>(half) * n, m - half, n, k);
  other.join();
}
