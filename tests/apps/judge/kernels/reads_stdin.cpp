/// Reads standard input to its end, prints a little, and is otherwise honest.
#include <cstdio>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  while (std::getchar() != EOF) {
  }
  std::printf("hello from the kernel\n");
  std::fflush(stdout);
  product(a, b, c, m, n, k);
}
