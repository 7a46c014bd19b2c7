/// Calls itself without end.
#include "product.hpp"

static float deep(volatile float* x, int depth) {
  volatile float here[256];
  here[depth % 256] = *x;
  return depth < 0 ? 0.0f : deep(here, depth + 1) + here[depth % 256];
}
extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  c[0] = deep(c, 0);
}
