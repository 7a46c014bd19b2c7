#pragma once

#include <cmath>
#include <span>

#include <tessera/linear_algebra/condition.hpp>

namespace tessera::linear_algebra {

/// Returns the largest of the sums of columns or rows that add(scale) returns, of numbers that are multiplied by a
/// power of two first: again with a smaller one where the sums overflow. NaN stays.
template <class Add>
detail::ScaledNumber largest_sum(const Add& add) {
  constexpr int less = 64; // a sum of as many numbers as memory holds does not overflow when each is 2^−less of itself
  const auto largest = [&](double scale) {
    double most = 0;
    for (const double sum : std::span<const double>(add(scale))) most = sum <= most ? most : sum;
    return most;
  };
  const double plain = largest(1);
  if (!std::isinf(plain)) return {plain, 0};
  return {largest(std::ldexp(1.0, -less)), less};
}

} // namespace tessera::linear_algebra
