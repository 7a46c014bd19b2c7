#pragma once

/// The contract's differences and quotients (../numbers.hpp) of this folder's numbers.

#include <complex>

#include "extensions/linear_algebra/numbers.hpp"
#include "strided.hpp"

namespace tessera::vectors {

template <class R>
[[gnu::always_inline]] inline R less(R x, R y) {
  return x - y;
}
template <class R>
[[gnu::always_inline]] inline ComplexNumber<R> less(const ComplexNumber<R>& x, const ComplexNumber<R>& y) {
  return {x.re - y.re, x.im - y.im};
}

/// Returns x / d.
template <class R>
[[gnu::always_inline]] inline R divided(R x, R d) {
  return x / d;
}
template <class R>
[[gnu::always_inline]] inline ComplexNumber<R> divided(const ComplexNumber<R>& x, const ComplexNumber<R>& d) {
  const linear_algebra::Divisor<std::complex<R>> divisor({d.re, d.im});
  const std::complex<R> quotient = divisor.divide({x.re, x.im});
  return {quotient.real(), quotient.imag()};
}

} // namespace tessera::vectors
