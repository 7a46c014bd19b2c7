/// Hangs while it is loaded.
#include <unistd.h>

#include "product.hpp"

__attribute__((constructor)) static void wait_forever() {
  for (;;) pause();
}
extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) { product(a, b, c, m, n, k); }
