#pragma once

/// Arithmetic of floating-point numbers whose exponents have no bounds: each operation rounds once, to nearest, to the
/// digits of P. Results are the ones of P itself wherever nothing overflows or underflows.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "extensions/linear_algebra/numbers.hpp"

namespace tessera::linear_algebra {

/// The number digits·2^exponent. `digits` is 0, Inf or NaN, and then the exponent is 0; or |digits| is in [1/2, 1).
template <class P>
struct Unbounded {
  P digits = 0;
  std::int64_t exponent = 0;

  Unbounded() = default;
  Unbounded(P x, std::int64_t e = 0) {
    int more = 0;
    digits = std::frexp(x, &more);
    if (digits != 0 && std::isfinite(digits)) exponent = e + more;
  }
  bool is_zero() const { return digits == 0; }
  bool is_finite() const { return std::isfinite(digits); }
  /// Returns number·2^more in P, which may round it, to Inf or 0 too.
  P times_power(std::int64_t more = 0) const {
    constexpr std::int64_t far = 5000; // beyond all exponents of P
    return std::ldexp(digits, static_cast<int>(std::clamp(exponent + more, -far, far)));
  }

  friend Unbounded operator-(const Unbounded& x) {
    Unbounded result = x;
    result.digits = -x.digits;
    return result;
  }
  friend Unbounded operator*(const Unbounded& x, const Unbounded& y) {
    return {x.digits * y.digits, x.exponent + y.exponent};
  }
  friend Unbounded operator/(const Unbounded& x, const Unbounded& y) {
    return {x.digits / y.digits, x.exponent - y.exponent};
  }
  friend Unbounded operator-(const Unbounded& x, const Unbounded& y) { return fma(x, Unbounded(P(1)), -y); }

  /// x·y + z. A product has twice as many digits as P, and an operand that is far below the other one acts by its sign
  /// alone, however far it is: so its distance is cut.
  friend Unbounded fma(const Unbounded& x, const Unbounded& y, const Unbounded& z) {
    const P factor = x.digits, other = y.digits;
    if (!x.is_finite() || !y.is_finite() || !z.is_finite() || (z.is_zero() && (x.is_zero() || y.is_zero())))
      return std::fma(factor, other, z.digits);
    if (x.is_zero() || y.is_zero()) return z;
    const std::int64_t power = x.exponent + y.exponent;
    if (z.is_zero()) return {factor * other, power};
    constexpr std::int64_t most = 2 * std::numeric_limits<P>::digits + 8;
    const std::int64_t above = std::clamp(z.exponent - power, -most, most);
    if (above > 0) return {std::fma(std::ldexp(factor, static_cast<int>(-above)), other, z.digits), z.exponent};
    return {std::fma(factor, other, std::ldexp(z.digits, static_cast<int>(above))), power};
  }
};

/// A real or complex number of such parts; multiplied, added and divided as docs/contract.md says of complex ones.
template <class T>
struct UnboundedNumber {
  using Real = Unbounded<Part<T>>;
  Real re, im;

  UnboundedNumber() = default;
  UnboundedNumber(const Real& real, const Real& imaginary) : re(real), im(imaginary) {}
  UnboundedNumber(T x) : re(std::real(x)) {
    if constexpr (is_complex<T>) im = x.imag();
  }
};

/// Returns chain + a·b.
template <class T>
UnboundedNumber<T> extended(const UnboundedNumber<T>& chain, const UnboundedNumber<T>& a, const UnboundedNumber<T>& b) {
  if constexpr (is_complex<T>)
    return {fma(a.im, -b.im, fma(a.re, b.re, chain.re)), fma(a.im, b.re, fma(a.re, b.im, chain.im))};
  else
    return {fma(a.re, b.re, chain.re), {}};
}
template <class T>
UnboundedNumber<T> difference(const UnboundedNumber<T>& x, const UnboundedNumber<T>& y) {
  if constexpr (is_complex<T>)
    return {x.re - y.re, x.im - y.im};
  else
    return {x.re - y.re, {}};
}
/// Returns x / d. No power of two is needed before |d|².
template <class T>
UnboundedNumber<T> quotient(const UnboundedNumber<T>& x, const UnboundedNumber<T>& d) {
  if constexpr (is_complex<T>) {
    if (d.im.is_zero()) return {x.re / d.re, x.im / d.re};
    const auto square = fma(d.re, d.re, d.im * d.im), re = d.re / square, im = -d.im / square;
    return {fma(x.re, re, -(x.im * im)), fma(x.re, im, x.im * re)};
  } else {
    return {x.re / d.re, {}};
  }
}
/// Returns alpha·x.
template <class T>
UnboundedNumber<T> product(const UnboundedNumber<T>& alpha, const UnboundedNumber<T>& x) {
  if constexpr (is_complex<T>) {
    if (alpha.im.is_zero()) return {alpha.re * x.re, alpha.re * x.im};
    return {fma(-alpha.im, x.im, alpha.re * x.re), fma(alpha.im, x.re, alpha.re * x.im)};
  } else {
    return {alpha.re * x.re, {}};
  }
}

} // namespace tessera::linear_algebra
