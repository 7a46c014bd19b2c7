/// Exports the right function under the wrong name.
#include "product.hpp"

void solve(const float* a, const float* b, float* c, int m, int k, int n) { product(a, b, c, m, n, k); }
