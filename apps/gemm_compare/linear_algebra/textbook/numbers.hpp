#pragma once

/// What loops do with real and with complex numbers. A complex product here has four multiplications and no test for
/// Inf, which the language's operator has.

#include <cmath>
#include <complex>

namespace tessera::compare_app::textbook {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

template <class T>
T product(T x, T y) {
  if constexpr (is_complex<T>)
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  else
    return x * y;
}

template <class T>
T conjugate(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

/// |x|², a real number.
template <class T>
auto square(T x) {
  return std::real(x) * std::real(x) + std::imag(x) * std::imag(x);
}

/// What pivots are chosen by: |x|, or |re| + |im|.
template <class T>
auto size(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

} // namespace tessera::compare_app::textbook
