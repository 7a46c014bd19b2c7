#include "freivalds_vectors.hpp"

#include "reference/fma_clones.hpp"

namespace tessera::compare {

TESSERA_FMA_CLONES void add_products(const float* a, Index step, Index count, const double* x, const double*,
                                     double* sums, double*) {
  double total[lanes];
  for (Index v = 0; v < lanes; ++v) total[v] = sums[v];
  for (Index p = 0; p < count; ++p) {
    const double factor = a[p * step];
    for (Index v = 0; v < lanes; ++v) total[v] = std::fma(factor, x[p * lanes + v], total[v]);
  }
  for (Index v = 0; v < lanes; ++v) sums[v] = total[v];
}

TESSERA_FMA_CLONES void add_products(const double* a, Index step, Index count, const double* x, const double* x_low,
                                     double* sums, double* sums_low) {
  double high[lanes];
  double low[lanes];
  for (Index v = 0; v < lanes; ++v) high[v] = sums[v], low[v] = sums_low[v];
  for (Index p = 0; p < count; ++p) {
    const double factor = a[p * step];
    for (Index v = 0; v < lanes; ++v) {
      const Pair sum = add_product({high[v], low[v]}, factor, x[p * lanes + v]);
      high[v] = sum.high;
      low[v] = std::fma(factor, x_low[p * lanes + v], sum.low);
    }
  }
  for (Index v = 0; v < lanes; ++v) sums[v] = high[v], sums_low[v] = low[v];
}

} // namespace tessera::compare
