/// Writes past the end of a small block, over the words that malloc keeps there.
#include <cstdlib>
#include <cstring>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  static char* block = static_cast<char*>(std::malloc(40));
  static char* after = static_cast<char*>(std::malloc(40));
  product(a, b, c, m, n, k);
  std::memset(block, 0x41, 56);
  after[0] = block[0];
}
