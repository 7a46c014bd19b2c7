#pragma once

/// The contract's quotient of complex numbers: docs/contract.md ("Linear algebra").

#include <algorithm>
#include <cmath>
#include <limits>

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
/// A number d whose imaginary part is 0 divides each part. Any other one is first multiplied by a power of two that
/// brings its larger part to [1/4, 1/2), so that neither |d|² nor the quotient overflows or loses digits on the way:
/// x / d = (scale·x)·conj(scale·d) / |scale·d|².
///
/// Source: the scaling by a power of two is in Baudin and Smith: "A robust complex division in Scilab" (2012).
template <class R>
[[gnu::always_inline]] inline ComplexNumber<R> divided(const ComplexNumber<R>& x, const ComplexNumber<R>& d) {
  if (d.im == 0) return {x.re / d.re, x.im / d.re};
  const R larger = std::max(std::abs(d.re), std::abs(d.im));
  R scale = 1;
  if (std::isfinite(larger))
    scale = std::ldexp(R{1}, -2 - std::max(std::ilogb(larger), std::numeric_limits<R>::min_exponent - 1));
  const R d_re = scale * d.re, d_im = scale * d.im, square = std::fma(d_re, d_re, d_im * d_im);
  const R re = scale * x.re, im = scale * x.im, inverse_re = d_re / square, inverse_im = -d_im / square;
  return {std::fma(re, inverse_re, -(im * inverse_im)), std::fma(re, inverse_im, im * inverse_re)};
}

} // namespace tessera::vectors
