/// Needs a function that no library defines.
#include "product.hpp"

void tuned_product(const float* a, const float* b, float* c, int m, int n, int k);
extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  tuned_product(a, b, c, m, n, k);
}
