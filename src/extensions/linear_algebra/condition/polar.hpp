#pragma once

/// Directions and logarithms of complex numbers.

#include <complex>

#include <tessera/user_kernel/math.hpp>

#include "sizes.hpp"

namespace tessera::linear_algebra {

/// A complex number as its direction and the logarithm of its magnitude.
struct Polar {
  std::complex<double> direction; ///< x / |x|; 0 for 0
  double logarithm;               ///< −Inf for 0
};
/// Returns both, which neither overflow nor underflow (docs/contract.md, "Linear algebra").
inline Polar polar_of(std::complex<double> x) {
  const double scale = scale_of(x.real(), x.imag());
  const double re = scale * x.real(), im = scale * x.imag(), size = root_of_squares(re, im);
  const double logarithm = tessera::log(size);
  if (size == 0) return {0, logarithm};
  return {{re / size, im / size}, scale == 1 ? logarithm : logarithm - tessera::log(scale)};
}

} // namespace tessera::linear_algebra
