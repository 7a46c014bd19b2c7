#include "accumulate.hpp"

namespace tessera::compare {
namespace {

TESSERA_FMA_CLONES void accumulate_f32(float a, const float* __restrict b, Index n, double* __restrict high,
                                       double* __restrict magnitude, float* __restrict chain) {
  const double wide = a;
  const double size = std::abs(wide);
  for (Index j = 0; j < n; ++j) {
    const double x = b[j];
    high[j] = std::fma(wide, x, high[j]); // the product is exact, as gold's is
    magnitude[j] = std::fma(size, std::abs(x), magnitude[j]);
  }
  for (Index j = 0; j < n; ++j) chain[j] = std::fma(a, b[j], chain[j]);
}

TESSERA_FMA_CLONES void accumulate_f64(double a, const double* __restrict b, Index n, double* __restrict high,
                                       double* __restrict low, double* __restrict magnitude, double* __restrict chain) {
  const double size = std::abs(a);
  for (Index j = 0; j < n; ++j) {
    const Pair sum = add_product({high[j], low[j]}, a, b[j]);
    high[j] = sum.high;
    low[j] = sum.low;
    magnitude[j] = std::fma(size, std::abs(b[j]), magnitude[j]);
    chain[j] = std::fma(a, b[j], chain[j]);
  }
}

} // namespace

void accumulate(float a, const float* b, Index n, const RowSums<float>& sums) {
  accumulate_f32(a, b, n, sums.high, sums.magnitude, sums.chain);
}
void accumulate(double a, const double* b, Index n, const RowSums<double>& sums) {
  accumulate_f64(a, b, n, sums.high, sums.low, sums.magnitude, sums.chain);
}

} // namespace tessera::compare
