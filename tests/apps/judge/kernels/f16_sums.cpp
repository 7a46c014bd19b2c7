/// Adds in f32, but rounds the sum to 11 significant bits after each 64 terms, as a kernel does that keeps its partial
/// sums in half the memory.

#include "fewer_bits.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) {
        sum += a[i * k + p] * b[p * n + j];
        if (p % 64 == 63) sum = rounded_to_11_bits(sum);
      }
      c[i * n + j] = sum;
    }
}
