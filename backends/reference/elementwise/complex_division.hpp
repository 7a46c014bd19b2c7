#pragma once

/// Division by a complex number in the contract's order of roundings (docs/contract.md, "Linear algebra").

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera {

/// Divides by a number d. One whose imaginary part is 0 divides each part. Any other one is first multiplied by a power
/// of two that brings its larger part to [1/4, 1/2), so that neither |d|² nor the quotient overflows or loses digits on
/// the way: x / d = (scale·x)·conj(scale·d) / |scale·d|².
///
/// Source: the scaling by a power of two is in Baudin and Smith: "A robust complex division in Scilab" (2012).
template <class T>
struct ComplexDivisor {
  [[gnu::always_inline]] explicit ComplexDivisor(T d_re = 1, T d_im = 0) : real(d_re), is_real(d_im == 0) {
    if (is_real) return;
    const T larger = std::max(std::abs(d_re), std::abs(d_im));
    if (std::isfinite(larger))
      scale = std::ldexp(T(1), -2 - std::max(std::ilogb(larger), std::numeric_limits<T>::min_exponent - 1));
    const T re = scale * d_re, im = scale * d_im;
    const T square = std::fma(re, re, im * im);
    inverse_re = re / square;
    inverse_im = -im / square;
  }
  T real;
  bool is_real;
  T scale = 1, inverse_re = 1, inverse_im = 0; ///< of a number that is not real

  /// Divides by a number that is not real.
  [[gnu::always_inline]] void divide(T& re, T& im) const {
    const T x = scale * re, y = scale * im;
    re = std::fma(x, inverse_re, -(y * inverse_im));
    im = std::fma(x, inverse_im, y * inverse_re);
  }
};

} // namespace tessera
