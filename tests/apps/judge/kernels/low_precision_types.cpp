/// Cheats with the precision of each type: int8 products are added four at a time in 16 bits, which saturate, as
/// instructions for int8 did before there were dot products; 16-bit sums are rounded to 16 bits in every step.
#include <algorithm>
#include <cstdint>
#include <tessera/half.hpp>

namespace {
template <class T>
void round_each_sum(const T* a, const T* b, T* c, int m, int k, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T sum(0.0F);
      for (int p = 0; p < k; ++p) sum = T(sum + a[i * k + p] * b[p * n + j]);
      c[i * n + j] = sum;
    }
}
} // namespace

extern "C" {
void solve_f16(const tessera::f16* a, const tessera::f16* b, tessera::f16* c, int m, int k, int n) {
  round_each_sum(a, b, c, m, k, n);
}
void solve_bf16(const tessera::bf16* a, const tessera::bf16* b, tessera::bf16* c, int m, int k, int n) {
  round_each_sum(a, b, c, m, k, n);
}
void solve_i8(const int8_t* a, const int8_t* b, int32_t* c, int m, int k, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (int p = 0; p < k; p += 4) {
        int four = 0;
        for (int q = p; q < std::min(p + 4, k); ++q)
          four = std::clamp(four + a[i * k + q] * b[q * n + j], -32768, 32767);
        sum += four;
      }
      c[i * n + j] = sum;
    }
}
}
