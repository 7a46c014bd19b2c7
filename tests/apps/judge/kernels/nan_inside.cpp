/// Writes a NaN into the middle of C.
#include <limits>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  c[(m / 3) * n + n / 3] = std::numeric_limits<float>::quiet_NaN();
}
