#pragma once

/// The steps of QR (panel.hpp) in plain loops, for a device of the tests. docs/contract.md ("QR") has the order of
/// operations.

#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/backend/kernel.hpp>
#include <tessera/backend/panel.hpp>

#include "panel_numbers.hpp"

namespace tessera::test {

/// A matrix of the steps of QR: real numbers by rows, and complex ones in planes or expanded.
template <class T>
class ReflectionMatrix {
  using P = PanelPart<T>;

 public:
  ReflectionMatrix(void* data, Index ld) : data_(static_cast<P*>(data)), ld_(ld) {}
  /// Returns a number that lies in planes.
  T operator()(Index i, Index j) const {
    if constexpr (is_complex_number<T>)
      return {part(2 * i, j), part(2 * i + 1, j)};
    else
      return part(i, j);
  }
  void set(Index i, Index j, T x) const {
    if constexpr (is_complex_number<T>) {
      part(2 * i, j) = x.real();
      part(2 * i + 1, j) = x.imag();
    } else {
      part(i, j) = x;
    }
  }
  /// Returns the number whose parts stand side by side.
  T side_by_side(Index i, Index j) const {
    if constexpr (is_complex_number<T>)
      return {part(2 * i, 2 * j), part(2 * i, 2 * j + 1)};
    else
      return part(i, j);
  }
  /// Return and set a number that is expanded.
  T expanded(Index i, Index j) const { return (*this)(i, is_complex_number<T> ? 2 * j : j); }
  void set_expanded(Index i, Index j, T x) const {
    if constexpr (is_complex_number<T>) {
      set(i, 2 * j, x);
      set(i, 2 * j + 1, {-x.imag(), x.real()});
    } else {
      set(i, j, x);
    }
  }

 private:
  P& part(Index i, Index j) const { return data_[i * ld_ + j]; }

  P* data_;
  Index ld_;
};

template <class T>
class ReflectionLoops {
  using P = PanelPart<T>;
  static constexpr Index segment = is_complex_number<T> ? canonical_segment / 2 : canonical_segment;

 public:
  explicit ReflectionLoops(const PanelCall& call)
      : call_(call), a_(call.a, call.lda), v_(call.v, call.ldv), t_(call.triangle, call.ld_triangle) {}

  void factor() const {
    for (Index first = 0; first < call_.cols; first += reflection_columns) {
      const Index end = std::min(call_.cols, first + reflection_columns);
      for (Index j = first; j < end; ++j) {
        reflect_column(j);
        for (Index c = j + 1; tau(j) != T(0) && c < end; ++c) reflect(j, c);
      }
      for (Index i = first; i < end; ++i) {
        T g[most_reflections];
        for (Index k = 0; k < i; ++k)
          g[k] = sum([&](Index r) { return v_.expanded(r, k); }, [&](Index r) { return v_.expanded(r, i); });
        extend(t_, i, g);
      }
      for (Index c = end; c < call_.cols; ++c) apply(first, end, c);
    }
  }

  void take_vectors() const {
    for (Index i = 0; i < call_.rows; ++i)
      for (Index j = 0; j < call_.cols; ++j)
        a_.set_expanded(i, j, i < j ? T(0) : i == j ? T(1) : static_cast<const T*>(call_.x)[i * call_.ldx + j]);
  }

  void make_triangle() const {
    const ReflectionMatrix<T> products(const_cast<void*>(call_.x), call_.ldx);
    for (Index i = 0; i < call_.cols; ++i) {
      T g[most_reflections];
      for (Index k = 0; k < i; ++k) g[k] = products.side_by_side(k, i); // of V's transpose and V, both expanded
      extend(a_, i, g);
    }
  }

  /// Of complex numbers.
  void into_planes() const {
    for (Index i = 0; i < call_.rows; ++i)
      for (Index j = 0; j < call_.cols; ++j) a_.set(i, j, static_cast<const T*>(call_.x)[i * call_.ldx + j]);
  }
  void from_planes() const {
    const ReflectionMatrix<T> planes(const_cast<void*>(call_.x), call_.ldx);
    for (Index i = 0; i < call_.rows; ++i)
      for (Index j = 0; j < call_.cols; ++j) static_cast<T*>(call_.a)[i * call_.lda + j] = planes(i, j);
  }

 private:
  T& tau(Index j) const { return static_cast<T*>(call_.tau)[j]; }

  /// The sum of x(r)·conj y(r) over all rows, in segments.
  template <class X, class Y>
  T sum(const X& x, const Y& y) const {
    T total = 0;
    for (Index first = 0; first < call_.rows; first += segment) {
      T chain = 0;
      for (Index r = first; r < std::min(call_.rows, first + segment); ++r) chain = go_on(x(r), conjugate(y(r)), chain);
      total = first == 0 ? chain : total + chain;
    }
    return total;
  }
  /// The sum over n numbers in lanes, where add(i, chain) goes on with number i.
  template <class Sum, class Add>
  static Sum sum_in_lanes(Index n, const Add& add) {
    Sum total = 0;
    for (Index first = 0; first < n; first += segment) {
      Sum lane[32] = {};
      for (Index i = first; i < std::min(n, first + segment); ++i) lane[i % 32] = add(i, lane[i % 32]);
      for (int width = 16; width > 0; width /= 2)
        for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
      total = first == 0 ? lane[0] : total + lane[0];
    }
    return total;
  }

  /// The power of two at or below the largest magnitude, as far as it and its inverse are normal numbers.
  static P power_below(P largest) {
    using Limits = std::numeric_limits<P>;
    constexpr int most = Limits::max_exponent - 2, least = Limits::min_exponent - 1;
    const int exponent = std::isfinite(largest) ? (largest < Limits::min() ? least : std::ilogb(largest)) : most;
    return std::ldexp(P(1), std::min(exponent, most));
  }
  static void enlarge(P& largest, P part) { // NaN is above all, and stays
    if (!std::isnan(largest) && !(std::abs(part) <= largest)) largest = std::abs(part);
  }

  void reflect_column(Index j) const {
    const Index n = call_.rows - j;
    const T first = a_(j, j);
    for (Index r = 0; r < j; ++r) v_.set_expanded(r, j, 0);
    v_.set_expanded(j, j, 1);
    for (Index r = j + 1; r < call_.rows; ++r) v_.set_expanded(r, j, a_(r, j));
    tau(j) = 0;
    P largest = std::abs(std::real(first));
    enlarge(largest, std::imag(first));
    bool is_reflected = std::imag(first) != 0;
    for (Index i = 1; i < n; ++i) {
      const T x = a_(j + i, j);
      is_reflected = is_reflected || x != T(0);
      enlarge(largest, std::real(x));
      enlarge(largest, std::imag(x));
    }
    if (!is_reflected) return note_zero(j);
    const P power = power_below(largest), inverse = 1 / power;
    const auto y = [&](Index i) { return a_(j + i, j) * inverse; };
    const P norm = std::sqrt(sum_in_lanes<P>(n, [&](Index i, P chain) {
      return is_complex_number<T>
                 ? std::fma(std::imag(y(i)), std::imag(y(i)), std::fma(std::real(y(i)), std::real(y(i)), chain))
                 : std::fma(std::real(y(i)), std::real(y(i)), chain);
    }));
    const T alpha = y(0);
    const P beta = std::signbit(std::real(alpha)) ? norm : -norm;
    const T factor = quotient(T(1), alpha - beta);
    for (Index i = 1; i < n; ++i) {
      const T of_v = product(factor, y(i));
      v_.set_expanded(j + i, j, of_v);
      a_.set(j + i, j, of_v);
    }
    a_.set(j, j, beta * power);
    if constexpr (is_complex_number<T>)
      tau(j) = {(beta - alpha.real()) / beta, -alpha.imag() / beta};
    else
      tau(j) = (beta - alpha) / beta;
    note_zero(j);
  }
  void note_zero(Index j) const {
    if (a_(j, j) == T(0) && *call_.failed < 0) *call_.failed = call_.first + j;
  }

  void reflect(Index j, Index c) const {
    const T sum = sum_in_lanes<T>(
        call_.rows - j, [&](Index i, T chain) { return go_on(conjugate(v_.expanded(j + i, j)), a_(j + i, c), chain); });
    const T w = product(-conjugate(tau(j)), sum);
    for (Index r = j; r < call_.rows; ++r) a_.set(r, c, go_on(w, v_.expanded(r, j), a_(r, c)));
  }

  /// Computes column i of T from g[k], k < i.
  void extend(const ReflectionMatrix<T>& t, Index i, const T* g) const {
    for (Index r = 0; r < i; ++r) {
      T chain = 0;
      for (Index k = r; k < i; ++k) chain = go_on(t.expanded(r, k), conjugate(g[k]), chain);
      t.set_expanded(r, i, product(-tau(i), chain));
    }
    t.set_expanded(i, i, tau(i));
    for (Index r = i + 1; r < call_.cols; ++r) t.set_expanded(r, i, 0);
  }

  /// Applies the block of reflections first … end − 1 to column c.
  void apply(Index first, Index end, Index c) const {
    T sums[most_reflections], w[most_reflections];
    for (Index k = first; k < end; ++k)
      sums[k] = sum([&](Index r) { return a_(r, c); }, [&](Index r) { return v_.expanded(r, k); });
    for (Index i = first; i < end; ++i) {
      w[i] = 0;
      for (Index k = first; k < end; ++k) w[i] = go_on(sums[k], conjugate(t_.expanded(k, i)), w[i]);
    }
    for (Index r = first; r < call_.rows; ++r) {
      T chain = 0;
      for (Index k = first; k < end; ++k) chain = go_on(w[k], v_.expanded(r, k), chain);
      a_.set(r, c, a_(r, c) - chain);
    }
  }

  const PanelCall& call_;
  ReflectionMatrix<T> a_, v_, t_;
};

} // namespace tessera::test
