#pragma once

/// The inner loop of the reference. It multiplies the elements of one row of A by a strip of columns of B, and adds the
/// products to all the sums that the comparison needs. It is written for vectors: the chains of different columns are
/// independent, and the chains of a strip stay in registers.

#include <cmath>

#include <tessera/types.hpp>

#include "reference/fma_clones.hpp"

namespace tessera::compare {

/// A number whose value is high + low, exactly.
struct Pair {
  double high = 0;
  double low = 0;
};

/// Returns sum + x·y; `low` keeps the rounding errors of the product and of the addition.
inline Pair add_product(Pair sum, double x, double y) {
  const double product = x * y;
  const double product_error = std::fma(x, y, -product);
  const double high = sum.high + product;
  const double part = high - sum.high;
  const double addition_error = (sum.high - (high - part)) + (product - part);
  return {high, sum.low + (product_error + addition_error)};
}

/// Number of columns that are summed together: one cache line.
template <class T>
inline constexpr Index strip = 64 / static_cast<Index>(sizeof(T));

/// Sums of a strip. `low` is used for f64 alone.
template <class T>
struct StripSums {
  double high[strip<T>];
  double low[strip<T>];
  double magnitude[strip<T>]; ///< Σ|a||b|
  T chain[strip<T>];          ///< a segment's chain
};

/// Norms of the columns of a strip. Elements that are NaN or Inf are counted and left out.
template <class T>
struct StripNorms {
  double sum[strip<T>];     ///< Σ|x|
  double squares[strip<T>]; ///< Σx², which may overflow or vanish for f64
  double largest[strip<T>];
  double exceptions[strip<T>]; ///< number of NaN and Inf
};

/// Adds a[p]·b[p·strip + q] for p = 0 … count − 1.
void accumulate(const float* a, const float* b, Index count, StripSums<float>& sums);
void accumulate(const double* a, const double* b, Index count, StripSums<double>& sums);

/// Copies element (p, s·strip + q) of b to packed[(s·depth + p)·strip + q]; columns beyond the last one are zeros.
void pack_strips(const float* b, Index ldb, Index depth, Index columns, float* packed);
void pack_strips(const double* b, Index ldb, Index depth, Index columns, double* packed);

/// Adds b[p·strip + q] to the norms for p = 0 … count − 1.
void measure(const float* b, Index count, StripNorms<float>& norms);
void measure(const double* b, Index count, StripNorms<double>& norms);

} // namespace tessera::compare
