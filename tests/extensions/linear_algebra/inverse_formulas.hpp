#pragma once

/// The contract's formulas of inverses, written out once more for the tests.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "systems.hpp"

namespace tessera::test {

template <class T>
constexpr Index segment = is_complex<T> ? 512 : 1024;

/// Which of two factors is the first one of a complex term: the memory that holds the transposes exchanges them.
enum class Order { Straight, Turned };

/// chain + x·y.
template <class T>
T extended(Order order, T x, T y, T chain) {
  if (order == Order::Turned) std::swap(x, y);
  if constexpr (is_complex<T>)
    return {std::fma(x.imag(), -y.imag(), std::fma(x.real(), y.real(), chain.real())),
            std::fma(x.imag(), y.real(), std::fma(x.real(), y.imag(), chain.imag()))};
  else
    return std::fma(x, y, chain);
}

/// The quotient of the contract.
template <class T>
T quotient(T a, T d) {
  if constexpr (is_complex<T>) {
    using P = Part<T>;
    if (d.imag() == 0) return {a.real() / d.real(), a.imag() / d.real()};
    const P larger = std::max(std::abs(d.real()), std::abs(d.imag()));
    if (std::isfinite(larger)) {
      const P p = std::ldexp(P(1), -2 - std::max(std::ilogb(larger), std::numeric_limits<P>::min_exponent - 1));
      a = {p * a.real(), p * a.imag()};
      d = {p * d.real(), p * d.imag()};
    }
    const P q = std::fma(d.real(), d.real(), d.imag() * d.imag()), re = d.real() / q, im = -d.imag() / q;
    return {std::fma(a.real(), re, -(a.imag() * im)), std::fma(a.real(), im, a.imag() * re)};
  } else {
    return a / d;
  }
}

/// a − s with s of x(k)·y(k), k = begin … end − 1, in segments that are cut at multiples of a segment's length. The
/// factor y of k = `one` is 1.
template <class T, class X, class Y>
T less_sum(Order order, T a, Index begin, Index end, const X& x, const Y& y, Index one = -1) {
  for (Index first = begin / segment<T> * segment<T>; first < end; first += segment<T>) {
    T chain = 0;
    for (Index k = std::max(begin, first); k < std::min(end, first + segment<T>); ++k)
      chain = k == one ? chain + x(k) : extended<T>(order, x(k), y(k), chain);
    a -= chain;
  }
  return a;
}

/// A matrix as its numbers, which are quick to look at.
template <class T>
struct Numbered {
  explicit Numbered(const Matrix<T>& from) : data(from.data()), ld(from.ld()) {}
  T operator()(Index i, Index j) const { return data[i * ld + j]; }
  const T* data;
  Index ld;
};

/// Returns column j of the X of L·X = I; `l` is read below the diagonal, and on it unless that is ones.
template <class T, class L>
std::vector<T> column_of_inverse(Order order, const L& l, Index n, bool is_unit, Index j) {
  std::vector<T> x(static_cast<std::size_t>(n));
  const auto at = [&](Index k) { return x[static_cast<std::size_t>(k)]; };
  for (Index i = j; i < n; ++i) {
    const T rest = less_sum(
        order, T(i == j), j, i, [&](Index k) { return l(i, k); }, at, is_unit ? j : -1);
    x[static_cast<std::size_t>(i)] = is_unit ? rest : quotient(rest, T(l(i, i)));
  }
  return x;
}

/// Returns element (i, j), j ≥ i, of U·Uᴴ; where its order is turned, of the transpose that is in memory.
template <class T, class U>
T element_of_square(Order order, const U& u, Index n, Index i, Index j) {
  const auto at = [&](Index r, Index k) { return r == k ? T(std::real(u(r, k))) : T(u(r, k)); };
  T sum = 0;
  for (Index first = j / segment<T> * segment<T>; first < n; first += segment<T>) {
    T chain = 0;
    for (Index k = std::max(j, first); k < std::min(n, first + segment<T>); ++k) {
      T other = at(j, k);
      if constexpr (is_complex<T>) other = std::conj(other);
      chain = extended<T>(order, at(i, k), other, chain);
    }
    sum = first <= j ? chain : sum + chain;
  }
  return i == j ? T(std::real(sum)) : sum;
}

/// Returns row i of the inverse by LU's packed factors, in the order of L·x and Uᵀ·x: X·U = I, then X·L = that, from
/// the last column on; then the columns change places.
template <class T, class F>
std::vector<T> row_of_inverse(Order order, const F& packed, std::span<const Index> pivots, Index i) {
  const auto n = static_cast<Index>(pivots.size());
  std::vector<T> x = column_of_inverse<T>(
      order, [&](Index r, Index k) { return packed(k, r); }, n, false, i);
  const auto from_last = [&](Index k) { return x[static_cast<std::size_t>(n - 1 - k)]; };
  for (Index j = n - 1; j >= 0; --j)
    x[static_cast<std::size_t>(j)] = less_sum(
        order, x[static_cast<std::size_t>(j)], 0, n - 1 - j, [&](Index k) { return packed(n - 1 - k, j); }, from_last);
  for (std::size_t j = x.size(); j-- > 0;) std::swap(x[j], x[static_cast<std::size_t>(pivots[j])]);
  return x;
}

} // namespace tessera::test
