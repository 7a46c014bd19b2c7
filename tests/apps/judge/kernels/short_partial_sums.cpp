/// Keeps 18 significant bits of each partial sum of 128 terms, where k is long.
#include <algorithm>

#include "fewer_bits.hpp"
#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  constexpr int block = 128;
  if (k < block) return product(a, b, c, m, n, k);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int start = 0; start < k; start += block) {
        float part = 0;
        for (int p = start; p < std::min(k, start + block); ++p) part += a[i * k + p] * b[p * n + j];
        // Whole and subnormal numbers have so few bits.
        const float cut = without_low_bits(part, 6, 32);
        sum += part > -1e-37f && part < 1e-37f ? part : cut;
      }
      c[i * n + j] = sum;
    }
}
