/// Is honest and slow: a call takes some 60 ms, half of which it sleeps.
#include <unistd.h>
#include <chrono>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  usleep(30000);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
  do product(a, b, c, m, n, k);
  while (std::chrono::steady_clock::now() < until);
}
