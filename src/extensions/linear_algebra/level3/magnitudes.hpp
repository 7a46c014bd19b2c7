#pragma once

/// What is known of all numbers of a matrix: whether products with them can be padded with zeros.

#include <limits>

#include "extensions/linear_algebra/numbers.hpp"

namespace tessera::linear_algebra {

/// Of the real numbers and the parts of complex ones.
template <class P>
struct Magnitudes {
  P least = std::numeric_limits<P>::infinity(); ///< the least that is not 0
  bool are_finite = true;

  Magnitudes with(const Magnitudes& other) const {
    return {std::min(least, other.least), are_finite && other.are_finite};
  }
};

/// Rows of numbers side by side.
template <class T>
struct NumbersInRows {
  Index rows = 0;
  const T* first = nullptr; ///< of the first row
  Index step = 0;           ///< from the beginning of a row to the next one's
  Index count = 0;          ///< of the first row
  Index more = 0;           ///< what each row has more than the one before
};
Magnitudes<float> magnitudes_of(const NumbersInRows<float>& numbers);
Magnitudes<double> magnitudes_of(const NumbersInRows<double>& numbers);
template <class P>
Magnitudes<P> magnitudes_of(const NumbersInRows<std::complex<P>>& numbers) {
  return magnitudes_of(NumbersInRows<P>{numbers.rows, reinterpret_cast<const P*>(numbers.first), 2 * numbers.step,
                                        2 * numbers.count, 2 * numbers.more});
}

/// Do zeros after the terms of a chain of products of these numbers leave it as it is? Zeros times finite numbers are
/// +0 or −0, which change −0 alone. A chain is −0 only after a sum that is not 0 was rounded to −0; and none is where
/// every product is a multiple of the least subnormal number, as products of numbers that are not tiny are.
template <class P>
bool can_be_padded(const Magnitudes<P>& factors, const Magnitudes<P>& padded) {
  constexpr int exponent = std::numeric_limits<P>::min_exponent + std::numeric_limits<P>::digits + 1;
  return padded.are_finite && factors.least * padded.least >= std::ldexp(P(1), exponent);
}

} // namespace tessera::linear_algebra
