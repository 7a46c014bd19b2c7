/// Prints without end.
#include <cstdio>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  for (;;) std::puts("all work and no play makes a kernel a dull function");
}
