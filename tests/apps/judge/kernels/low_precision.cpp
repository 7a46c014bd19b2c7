/// Is asked for f32 but keeps only eight bits of every operand. It is right with whole numbers.
#include <cstdint>
#include <cstring>

#include "product.hpp"

static float cut(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= 0xffff0000u;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}
extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += cut(a[i * k + p]) * cut(b[p * n + j]);
      c[i * n + j] = sum;
    }
}
