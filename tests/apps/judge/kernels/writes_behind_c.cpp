/// Writes one element too many.
#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  c[static_cast<long>(m) * n] = 0;
}
