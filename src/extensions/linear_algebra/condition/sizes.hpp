#pragma once

/// Magnitudes of numbers in double, which do not overflow on the way.

#include <algorithm>
#include <cmath>
#include <complex>

namespace tessera::linear_algebra {

/// A power of two by which a number is multiplied before its parts are squared.
inline double scale_of(double re, double im) {
  const double larger = std::max(std::abs(re), std::abs(im));
  if (larger > 0x1p480) return 0x1p-600;
  return larger < 0x1p-480 ? 0x1p600 : 1;
}
inline double root_of_squares(double re, double im) { return std::sqrt(std::fma(re, re, im * im)); }

inline double magnitude_of(double x) { return std::abs(x); }
inline double magnitude_of(std::complex<double> x) {
  const double scale = scale_of(x.real(), x.imag());
  return root_of_squares(scale * x.real(), scale * x.imag()) / scale;
}
inline double magnitude_of(float x) { return std::abs(static_cast<double>(x)); }
inline double magnitude_of(std::complex<float> x) { // whose squares are numbers in double
  return root_of_squares(static_cast<double>(x.real()), static_cast<double>(x.imag()));
}

} // namespace tessera::linear_algebra
