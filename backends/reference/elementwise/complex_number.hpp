#pragma once

/// Complex arithmetic in a fixed order of roundings, on host and device.
///
/// A factor whose imaginary part is zero is a real number: it multiplies both parts, so that nothing is added to them,
/// not even 0·Inf.

#include <cmath>

#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>

namespace tessera {

/// As std::complex<T> lies in memory, with its alignment.
template <class T>
struct ComplexNumber {
  T re;
  T im;
};

template <class T>
ComplexNumber<T> alpha_of(const MapCall& call) {
  return {static_cast<T>(call.alpha), static_cast<T>(call.alpha_imaginary)};
}
template <class T>
ComplexNumber<T> beta_of(const MapCall& call) {
  return {static_cast<T>(call.beta), static_cast<T>(call.beta_imaginary)};
}

template <class T>
TESSERA_HOST_DEVICE inline ComplexNumber<T> conjugate(const ComplexNumber<T>& x) {
  return {x.re, -x.im};
}

/// i·x: what the second row of an expanded number holds.
template <class T>
TESSERA_HOST_DEVICE inline ComplexNumber<T> turned_by_i(const ComplexNumber<T>& x) {
  return {-x.im, x.re};
}

/// alpha·x
template <class T>
TESSERA_HOST_DEVICE inline ComplexNumber<T> scaled(const ComplexNumber<T>& alpha, const ComplexNumber<T>& x) {
  if (alpha.im == T{0}) return {alpha.re * x.re, alpha.re * x.im};
  return {std::fma(-alpha.im, x.im, alpha.re * x.re), std::fma(alpha.im, x.re, alpha.re * x.im)};
}

/// beta·y + sum
template <class T>
TESSERA_HOST_DEVICE inline ComplexNumber<T> added(const ComplexNumber<T>& beta, const ComplexNumber<T>& y,
                                                  const ComplexNumber<T>& sum) {
  const ComplexNumber<T> real{std::fma(beta.re, y.re, sum.re), std::fma(beta.re, y.im, sum.im)};
  if (beta.im == T{0}) return real;
  return {std::fma(-beta.im, y.im, real.re), std::fma(beta.im, y.re, real.im)};
}

} // namespace tessera
