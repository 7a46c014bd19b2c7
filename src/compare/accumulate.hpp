#pragma once

/// The inner loop of the reference: one row of A's element times a piece of a row of B, added to everything that is
/// wanted of the product at once. Written for vectors: the chains of different columns are independent.

#include <cmath>

#include <tessera/types.hpp>

#include "reference/fma_clones.hpp"

namespace tessera::compare {

/// The exact value is high + low.
struct Pair {
  double high = 0;
  double low = 0;
};

/// sum + x·y, keeping the rounding errors of the product and of the addition in `low`.
inline Pair add_product(Pair sum, double x, double y) {
  const double product = x * y;
  const double product_error = std::fma(x, y, -product);
  const double high = sum.high + product;
  const double part = high - sum.high;
  const double addition_error = (sum.high - (high - part)) + (product - part);
  return {high, sum.low + (product_error + addition_error)};
}

/// Sums of one piece of a row of C. `low` is used for f64 alone.
template <class T>
struct RowSums {
  double* high;
  double* low;
  double* magnitude; ///< Σ|a||b|
  T* chain;          ///< the canonical segment
};

void accumulate(float a, const float* b, Index n, const RowSums<float>& sums);
void accumulate(double a, const double* b, Index n, const RowSums<double>& sums);

} // namespace tessera::compare
