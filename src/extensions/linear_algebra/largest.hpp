#pragma once

#include <span>

namespace tessera::linear_algebra {

/// Returns the largest of numbers that are not negative. NaN stays.
inline double largest_of(std::span<const double> sums) {
  double most = 0;
  for (const double sum : sums) most = sum <= most ? most : sum;
  return most;
}

} // namespace tessera::linear_algebra
