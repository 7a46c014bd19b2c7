#pragma once

/// Real and complex numbers as one: what the algorithms of linear algebra do with a number, in the contract's order of
/// roundings (docs/contract.md, "Complex products" and "Linear algebra").

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <tessera/backend/kernel.hpp>

#include "reference/elementwise/complex_division.hpp"
#include "reference/elementwise/complex_number.hpp"

namespace tessera::linear_algebra {

template <class T>
struct Number {
  using Part = T;
  static constexpr Index parts = 1;
};
template <class T>
struct Number<std::complex<T>> {
  using Part = T;
  static constexpr Index parts = 2;
};
template <class T>
using Part = typename Number<T>::Part;
template <class T>
inline constexpr bool is_complex = Number<T>::parts == 2;

/// The terms of a segment: a complex one is two real ones.
template <class T>
inline constexpr Index segment_length = canonical_segment / Number<T>::parts;

/// Returns the number, or its conjugate.
template <class T>
T conjugated_if([[maybe_unused]] bool conjugate, T x) {
  if constexpr (is_complex<T>)
    if (conjugate) return {x.real(), -x.imag()};
  return x;
}
template <class T>
T real_part(T x) {
  if constexpr (is_complex<T>)
    return {x.real(), 0};
  else
    return x;
}

/// Returns the magnitude by which pivots are chosen: |x|, or |re| + |im|, which is rounded once.
template <class T>
Part<T> pivot_size(T x) {
  if constexpr (is_complex<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

/// Returns a chain that goes on with the term a·b.
template <class T>
[[gnu::always_inline]] inline T multiply_add(T a, T b, T chain) {
  if constexpr (is_complex<T>)
    return {std::fma(a.imag(), -b.imag(), std::fma(a.real(), b.real(), chain.real())),
            std::fma(a.imag(), b.real(), std::fma(a.real(), b.imag(), chain.imag()))};
  else
    return std::fma(a, b, chain);
}

/// Returns alpha·x.
template <class T>
T scaled(T alpha, T x) {
  if constexpr (is_complex<T>) {
    const auto r = tessera::scaled(ComplexNumber<Part<T>>{alpha.real(), alpha.imag()}, {x.real(), x.imag()});
    return {r.re, r.im};
  } else {
    return alpha * x;
  }
}
/// Returns beta·c, or 0 where beta is 0; then c is not looked at.
template <class T>
T scaled_by(T beta, T c) {
  return beta == T(0) ? T(0) : scaled(beta, c);
}
/// Returns r = alpha·s, to which beta·c is added unless beta is 0; then c is not looked at.
template <class T>
T finished(T alpha, T s, T beta, T c) {
  const T r = scaled(alpha, s);
  if (beta == T(0)) return r;
  if constexpr (is_complex<T>) {
    const auto sum =
        tessera::added(ComplexNumber<Part<T>>{beta.real(), beta.imag()}, {c.real(), c.imag()}, {r.real(), r.imag()});
    return {sum.re, sum.im};
  } else {
    return std::fma(beta, c, r);
  }
}

/// Divides by a number.
template <class T>
struct Divisor {
  explicit Divisor(T d = T(1)) : real(d) {}
  T real;

  T divide(T x) const { return x / real; }
};
template <class T>
struct Divisor<std::complex<T>> : ComplexDivisor<T> {
  [[gnu::always_inline]] explicit Divisor(std::complex<T> d = 1) : ComplexDivisor<T>(d.real(), d.imag()) {}

  using ComplexDivisor<T>::divide;
  [[gnu::always_inline]] std::complex<T> divide(std::complex<T> x) const {
    T re = x.real(), im = x.imag();
    if (this->is_real) return {re / this->real, im / this->real};
    divide(re, im);
    return {re, im};
  }
};

} // namespace tessera::linear_algebra
