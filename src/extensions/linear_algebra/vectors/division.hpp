#pragma once

/// The contract's differences and quotients (../numbers.hpp) of this folder's numbers.

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

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

/// Returns the power of two by which a divisor is multiplied whose larger part has this magnitude. Where it is a normal
/// number, its bits are the magnitude's exponent subtracted from a constant; functions of the C library take longer.
template <class R>
[[gnu::always_inline]] inline R scale_of(R larger) {
  using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  constexpr int digits = std::numeric_limits<R>::digits - 1, bias = std::numeric_limits<R>::max_exponent - 1;
  constexpr Bits last_exponent = 2 * bias + 1;
  const Bits exponent = std::max<Bits>(std::bit_cast<Bits>(larger) >> digits, 1); // of subnormal numbers: the least one
  if (exponent < 2 * bias - 2) return std::bit_cast<R>((2 * bias - 2 - exponent) << digits);
  return exponent == last_exponent ? R{1} : std::ldexp(R{1}, bias - 2 - static_cast<int>(exponent));
}

/// What divides by a number.
template <class R>
[[gnu::always_inline]] inline linear_algebra::Divisor<R> divisor_of(R d) {
  return linear_algebra::Divisor<R>(d);
}
template <class R>
[[gnu::always_inline]] inline linear_algebra::Divisor<std::complex<R>> divisor_of(const ComplexNumber<R>& d) {
  linear_algebra::Divisor<std::complex<R>> divisor;
  divisor.real = d.re;
  divisor.is_real = d.im == 0;
  if (divisor.is_real) return divisor;
  divisor.scale = scale_of(std::max(std::abs(d.re), std::abs(d.im)));
  const R re = divisor.scale * d.re, im = divisor.scale * d.im;
  const R square = std::fma(re, re, im * im);
  divisor.inverse_re = re / square;
  divisor.inverse_im = -im / square;
  return divisor;
}

template <class R>
[[gnu::always_inline]] inline R quotient(R x, const linear_algebra::Divisor<R>& d) {
  return d.divide(x);
}
template <class R>
[[gnu::always_inline]] inline ComplexNumber<R> quotient(const ComplexNumber<R>& x,
                                                        const linear_algebra::Divisor<std::complex<R>>& d) {
  const std::complex<R> result = d.divide(std::complex<R>{x.re, x.im});
  return {result.real(), result.imag()};
}
/// Returns x / d.
template <class N>
[[gnu::always_inline]] inline N divided(const N& x, const N& d) {
  return quotient(x, divisor_of(d));
}

} // namespace tessera::vectors
