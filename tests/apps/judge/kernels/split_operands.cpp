/// Splits each element into two numbers of 8 significant bits, and leaves out the product of the two lower ones, as
/// matrix units for bf16 multiply f32 fast. Errors of long sums in f32 are larger than what it leaves out, so that
/// it computes short sums as they should be.
#include <vector>

#include "fewer_bits.hpp"
#include "product.hpp"

struct Split {
  std::vector<float> high, low;
  Split(const float* x, int count) : high(count), low(count) {
    for (int i = 0; i < count; ++i) {
      high[i] = without_low_bits(x[i], 16, 0x8000);
      low[i] = without_low_bits(x[i] - high[i], 16, 0x8000);
    }
  }
};

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  if (k < 64) return product(a, b, c, m, n, k);
  const Split of_a(a, m * k), of_b(b, k * n);
  std::vector<float> part(m * n);
  product(of_a.high.data(), of_b.high.data(), c, m, n, k);
  const auto add = [&](const std::vector<float>& x, const std::vector<float>& y) {
    product(x.data(), y.data(), part.data(), m, n, k);
    for (int i = 0; i < m * n; ++i) c[i] += part[i];
  };
  add(of_a.high, of_b.low);
  add(of_a.low, of_b.high);
}
