/// Writes in front of the memory of A.
#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  const_cast<float*>(a)[-3] = 1;
}
