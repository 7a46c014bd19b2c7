/// Is asked for f32 but keeps only eight bits of every operand. It is right with whole numbers.
#include "fewer_bits.hpp"

static float cut(float x) { return without_low_bits(x, 16); }

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += cut(a[i * k + p]) * cut(b[p * n + j]);
      c[i * n + j] = sum;
    }
}
