#include "oracle.hpp"

#include <cmath>

#include "reference/fma_clones.hpp"

namespace tessera::conformance {

TESSERA_WIDE_CLONES void add_products(double a, const double* b, Index n, double* __restrict sum,
                                      double* __restrict magnitude) {
  for (Index j = 0; j < n; ++j) {
    const double product = a * b[j];
    sum[j] += product;
    magnitude[j] += std::abs(product);
  }
}

TESSERA_WIDE_CLONES void add_products(double a, const double* b, Index n, double* __restrict sum,
                                      double* __restrict lost, double* __restrict magnitude) {
  for (Index j = 0; j < n; ++j) {
    const double product = a * b[j];
    const double total = sum[j] + product;
    const double added = total - sum[j]; // Knuth's exact sum: what of the product is in the total
    lost[j] += (sum[j] - (total - added)) + (product - added) + std::fma(a, b[j], -product);
    sum[j] = total;
    magnitude[j] += std::abs(product);
  }
}

} // namespace tessera::conformance
