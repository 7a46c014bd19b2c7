#pragma once

/// What rounding can have done to sums of magnitudes, to residuals and to their quotients.

#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/checking/check_solve.hpp>

#include "modulus.hpp"
#include "row_sums.hpp"

namespace tessera::solution {

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double smallest = std::numeric_limits<double>::denorm_min();
inline constexpr double roundoff = 0x1p-53;

inline Enclosure larger(const Enclosure& x, const Enclosure& y) {
  return {std::max(x.least, y.least), std::max(x.most, y.most)};
}

/// Encloses x / y. The quotients' own roundings are within the last factors.
inline Enclosure quotient(const Enclosure& x, const Enclosure& y) {
  if (x.most == 0) return {};
  return {x.least / y.most * (1 - 2 * roundoff), y.least > 0 ? x.most / y.least * (1 + 2 * roundoff) : infinite};
}

/// Encloses the modulus of a number whose parts' magnitudes are enclosed.
inline Enclosure modulus(const Enclosure& re, const Enclosure& im) {
  constexpr double error = 4 * roundoff;
  return {std::max(0.0, modulus(re.least, im.least) * (1 - error) - smallest),
          modulus(re.most, im.most) * (1 + error) + smallest};
}

/// The errors of sums of n products and one number more. The terms of order u³ are within the rounded-up factors.
class Errors {
 public:
  /// `further` is the number of roundings in a product's factors.
  explicit Errors(Index n, Index further = 0)
      : terms_(static_cast<double>(n + sum_lanes + further) + 3), tiny_(terms_ * smallest) {}

  /// Encloses a sum of magnitudes that one chain of additions has computed. `lost` is what the factors lack where they
  /// are below the normal numbers.
  Enclosure magnitude_sum(double computed, double lost = 0) const {
    const double error = 1.01 * terms_ * roundoff;
    return {std::max(0.0, computed * (1 - error) - tiny_ - lost), computed * (1 + error) + tiny_ + lost};
  }
  /// Encloses the magnitude of a sum whose errors were added up beside it and added at the end. `magnitudes` is the sum
  /// of the terms' magnitudes.
  Enclosure corrected_sum(double computed, double magnitudes) const {
    const double error = 3 * (terms_ * roundoff) * (terms_ * roundoff) * magnitudes + tiny_, size = std::abs(computed);
    return {std::max(0.0, size * (1 - 2 * roundoff) - error), size * (1 + 2 * roundoff) + error};
  }
  /// What sums of n products of moduli can lack where moduli are below the normal numbers, and so off by half the
  /// smallest one: the moduli of a row of A, whose sum is known, times errors in X, and errors in A times the largest
  /// modulus in X.
  static double lost_moduli(Index n, double sum_of_a, double largest_x) {
    const auto count = static_cast<double>(n);
    return smallest * largest_x * count + smallest * sum_of_a + smallest * (count + 1);
  }
  /// An upper bound of what a sum of products that are 0 as they are computed can be.
  Enclosure vanished() const { return {0, tiny_}; }

 private:
  double terms_, tiny_;
};

} // namespace tessera::solution
