#pragma once

/// Complex arithmetic in a fixed order of roundings, on host and device.
///
/// A factor whose imaginary part is zero counts as a real number. It multiplies both parts and adds nothing to them,
/// not even 0·Inf.

#include <cmath>

#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>

namespace tessera {

/// A complex number with the layout and the alignment of std::complex<T>.
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

/// Returns i·x, which is the second row of an expanded number.
template <class T>
TESSERA_HOST_DEVICE inline ComplexNumber<T> turned_by_i(const ComplexNumber<T>& x) {
  return {-x.im, x.re};
}

/// Returns alpha·x.
template <class T>
TESSERA_HOST_DEVICE inline ComplexNumber<T> scaled(const ComplexNumber<T>& alpha, const ComplexNumber<T>& x) {
  if (alpha.im == T{0}) return {alpha.re * x.re, alpha.re * x.im};
  return {std::fma(-alpha.im, x.im, alpha.re * x.re), std::fma(alpha.im, x.re, alpha.re * x.im)};
}

/// Returns beta·y + sum.
template <class T>
TESSERA_HOST_DEVICE inline ComplexNumber<T> added(const ComplexNumber<T>& beta, const ComplexNumber<T>& y,
                                                  const ComplexNumber<T>& sum) {
  const ComplexNumber<T> real{std::fma(beta.re, y.re, sum.re), std::fma(beta.re, y.im, sum.im)};
  if (beta.im == T{0}) return real;
  return {std::fma(-beta.im, y.im, real.re), std::fma(beta.im, y.re, real.im)};
}

} // namespace tessera
