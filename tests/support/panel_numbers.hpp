#pragma once

/// What the steps of factorisations do with a number, real or complex, as docs/contract.md ("Linear algebra") says it.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "conjugate.hpp"

namespace tessera::test {

template <class T>
using PanelPart = decltype(std::real(T()));
template <class T>
inline constexpr bool is_complex_number = !std::is_floating_point_v<T>;

/// Returns the chain that goes on with the term a·b.
template <class T>
T go_on(T a, T b, T sum) {
  if constexpr (is_complex_number<T>)
    return {std::fma(a.imag(), -b.imag(), std::fma(a.real(), b.real(), sum.real())),
            std::fma(a.imag(), b.real(), std::fma(a.real(), b.imag(), sum.imag()))};
  else
    return std::fma(a, b, sum);
}

/// Returns alpha·x; an alpha whose imaginary part is 0 is real.
template <class T>
T product(T alpha, T x) {
  if constexpr (is_complex_number<T>) {
    if (alpha.imag() == 0) return {alpha.real() * x.real(), alpha.real() * x.imag()};
    return {std::fma(-alpha.imag(), x.imag(), alpha.real() * x.real()),
            std::fma(alpha.imag(), x.real(), alpha.real() * x.imag())};
  } else {
    return alpha * x;
  }
}

/// Returns the magnitude by which pivots are chosen.
template <class T>
PanelPart<T> pivot_size(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

template <class T>
T quotient(T a, T d) {
  if constexpr (is_complex_number<T>) {
    using P = PanelPart<T>;
    if (d.imag() == 0) return {a.real() / d.real(), a.imag() / d.real()};
    const P larger = std::max(std::abs(d.real()), std::abs(d.imag()));
    P p = 1;
    if (std::isfinite(larger)) {
      int exponent = 0;
      std::frexp(std::max(larger, std::numeric_limits<P>::min()), &exponent); // above e by one
      p = std::ldexp(P(1), -exponent - 1);
    }
    const P re = p * d.real(), im = p * d.imag(), q = std::fma(re, re, im * im);
    const P w_re = re / q, w_im = -im / q, x = p * a.real(), y = p * a.imag();
    return {std::fma(x, w_re, -(y * w_im)), std::fma(x, w_im, y * w_re)};
  } else {
    return a / d;
  }
}

/// Returns |x| in double, without overflow on the way.
inline double size_in_double(double x) { return std::abs(x); }
inline double size_in_double(std::complex<float> x) {
  const double re = x.real(), im = x.imag();
  return std::sqrt(std::fma(re, re, im * im));
}
inline double size_in_double(std::complex<double> x) {
  const double larger = std::max(std::abs(x.real()), std::abs(x.imag()));
  const double scale = larger > 0x1p480 ? 0x1p-600 : larger < 0x1p-480 ? 0x1p600 : 1;
  const double re = scale * x.real(), im = scale * x.imag();
  return std::sqrt(std::fma(re, re, im * im)) / scale;
}

} // namespace tessera::test
