#pragma once

/// The steps of QR (panel.hpp) in plain loops, for a device of the tests. docs/contract.md ("QR") has the order of
/// operations.

#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/backend/kernel.hpp>
#include <tessera/backend/panel.hpp>

namespace tessera::test {

template <class T>
class ReflectionLoops {
 public:
  explicit ReflectionLoops(const PanelCall& call) : call_(call) {}

  void factor() const {
    for (Index first = 0; first < call_.cols; first += reflection_columns) {
      const Index end = std::min(call_.cols, first + reflection_columns);
      for (Index j = first; j < end; ++j) {
        reflect_column(j);
        for (Index c = j + 1; tau(j) != 0 && c < end; ++c) reflect(j, c);
      }
      for (Index i = first; i < end; ++i) {
        T g[most_reflections];
        for (Index k = 0; k < i; ++k) g[k] = sum([&](Index r) { return v(r, k); }, [&](Index r) { return v(r, i); });
        extend(static_cast<T*>(call_.triangle), call_.ld_triangle, i, g);
      }
      for (Index c = end; c < call_.cols; ++c) apply(first, end, c);
    }
  }

  void take_vectors() const {
    for (Index i = 0; i < call_.rows; ++i)
      for (Index j = 0; j < call_.cols; ++j)
        a(i, j) = i < j ? T(0) : i == j ? T(1) : static_cast<const T*>(call_.x)[i * call_.ldx + j];
  }

  void make_triangle() const {
    for (Index i = 0; i < call_.cols; ++i) {
      T g[most_reflections];
      for (Index k = 0; k < i; ++k) g[k] = static_cast<const T*>(call_.x)[k * call_.ldx + i];
      extend(static_cast<T*>(call_.a), call_.lda, i, g);
    }
  }

 private:
  T& a(Index i, Index j) const { return static_cast<T*>(call_.a)[i * call_.lda + j]; }
  T& v(Index i, Index j) const { return static_cast<T*>(call_.v)[i * call_.ldv + j]; }
  T& tau(Index j) const { return static_cast<T*>(call_.tau)[j]; }

  /// The sum of x(r)·y(r) over all rows, in segments.
  template <class X, class Y>
  T sum(const X& x, const Y& y) const {
    T total = 0;
    for (Index first = 0; first < call_.rows; first += canonical_segment) {
      T chain = 0;
      for (Index r = first; r < std::min(call_.rows, first + canonical_segment); ++r)
        chain = std::fma(x(r), y(r), chain);
      total = first == 0 ? chain : total + chain;
    }
    return total;
  }
  /// The same over n numbers, in lanes.
  template <class X, class Y>
  static T sum_in_lanes(Index n, const X& x, const Y& y) {
    T total = 0;
    for (Index first = 0; first < n; first += canonical_segment) {
      T lane[32] = {};
      for (Index i = first; i < std::min(n, first + canonical_segment); ++i)
        lane[i % 32] = std::fma(x(i), y(i), lane[i % 32]);
      for (int width = 16; width > 0; width /= 2)
        for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
      total = first == 0 ? lane[0] : total + lane[0];
    }
    return total;
  }

  /// The power of two at or below the largest magnitude, as far as it and its inverse are normal numbers.
  static T power_below(T largest) {
    using Limits = std::numeric_limits<T>;
    constexpr int most = Limits::max_exponent - 2, least = Limits::min_exponent - 1;
    const int exponent = std::isfinite(largest) ? (largest < Limits::min() ? least : std::ilogb(largest)) : most;
    return std::ldexp(T(1), std::min(exponent, most));
  }

  void reflect_column(Index j) const {
    const Index n = call_.rows - j;
    for (Index r = 0; r < j; ++r) v(r, j) = 0;
    v(j, j) = 1;
    for (Index r = j + 1; r < call_.rows; ++r) v(r, j) = a(r, j);
    tau(j) = 0;
    T largest = std::abs(a(j, j));
    bool is_reflected = false;
    for (Index i = 1; i < n; ++i) {
      is_reflected = is_reflected || a(j + i, j) != 0;
      if (!std::isnan(largest) && !(std::abs(a(j + i, j)) <= largest))
        largest = std::abs(a(j + i, j)); // NaN is above all, and stays
    }
    if (!is_reflected) return note_zero(j);
    const T power = power_below(largest), inverse = 1 / power;
    const auto y = [&](Index i) { return a(j + i, j) * inverse; };
    const T norm = std::sqrt(sum_in_lanes(n, y, y)), alpha = y(0), beta = std::signbit(alpha) ? norm : -norm;
    const T factor = 1 / (alpha - beta);
    for (Index i = 1; i < n; ++i) v(j + i, j) = y(i) * factor;
    for (Index i = 1; i < n; ++i) a(j + i, j) = v(j + i, j);
    a(j, j) = beta * power;
    tau(j) = (beta - alpha) / beta;
    note_zero(j);
  }
  void note_zero(Index j) const {
    if (a(j, j) == 0 && *call_.failed < 0) *call_.failed = call_.first + j;
  }

  void reflect(Index j, Index c) const {
    const T w =
        -tau(j) * sum_in_lanes(
                      call_.rows - j, [&](Index i) { return v(j + i, j); }, [&](Index i) { return a(j + i, c); });
    for (Index r = j; r < call_.rows; ++r) a(r, c) = std::fma(w, v(r, j), a(r, c));
  }

  /// Computes column i of T from g[k], k < i.
  void extend(T* t, Index ldt, Index i, const T* g) const {
    for (Index r = 0; r < i; ++r) {
      T chain = 0;
      for (Index k = r; k < i; ++k) chain = std::fma(t[r * ldt + k], g[k], chain);
      t[r * ldt + i] = -tau(i) * chain;
    }
    t[i * ldt + i] = tau(i);
    for (Index r = i + 1; r < call_.cols; ++r) t[r * ldt + i] = 0;
  }

  /// Applies the block of reflections first … end − 1 to column c.
  void apply(Index first, Index end, Index c) const {
    T sums[most_reflections], w[most_reflections];
    for (Index k = first; k < end; ++k)
      sums[k] = sum([&](Index r) { return a(r, c); }, [&](Index r) { return v(r, k); });
    for (Index i = first; i < end; ++i) {
      w[i] = 0;
      for (Index k = first; k < end; ++k)
        w[i] = std::fma(sums[k], static_cast<const T*>(call_.triangle)[k * call_.ld_triangle + i], w[i]);
    }
    for (Index r = first; r < call_.rows; ++r) {
      T chain = 0;
      for (Index k = first; k < end; ++k) chain = std::fma(w[k], v(r, k), chain);
      a(r, c) -= chain;
    }
  }

  const PanelCall& call_;
};

} // namespace tessera::test
