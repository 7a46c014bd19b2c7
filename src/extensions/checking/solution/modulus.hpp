#pragma once

/// The modulus of a complex number, with an error that is proven: a library's hypot says nothing of its own.

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::solution {

/// Returns √(re² + im²) with a relative error below 2.01·2⁻⁵³, and where the result is below 2⁻¹⁰²² half the smallest
/// number more; Inf where it overflows or a part is no number. Squares neither overflow nor lose digits: the sum has
/// two roundings, of which the root halves the effect, and the root one.
inline double modulus(double re, double im) {
  constexpr double small = 0x1p-500, large = 0x1p500, up = 0x1p600, down = 0x1p-600;
  const auto root = [](double x, double y) { return std::sqrt(std::fma(x, x, y * y)); };
  const double most = std::max(std::abs(re), std::abs(im));
  if (!std::isfinite(re) || !std::isfinite(im)) return std::numeric_limits<double>::infinity();
  if (most >= small && most <= large) return root(re, im);
  return most < small ? root(re * up, im * up) * down : root(re * down, im * down) * up;
}

} // namespace tessera::solution
