#pragma once

/// Reflections of columns whose real parts lie side by side, and then their imaginary ones, `ld` apart: how they are
/// found and applied one by one, with sums in lanes. docs/contract.md ("QR") has the order of operations. The functions
/// are inlined into clones for different processors.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tessera/backend/kernel.hpp>

#include "extensions/linear_algebra/numbers.hpp"

namespace tessera::linear_algebra {

/// The lanes of a sum along a column.
inline constexpr Index sum_lanes = 32;

/// Adds the lanes of a chunk.
template <class T>
[[gnu::always_inline]] inline T fold_lanes(T* lane) {
  for (Index width = sum_lanes / 2; width > 0; width /= 2)
    for (Index l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}

/// Returns the sum of x(i)·y(i), n ≥ 1, where both are multiplied by `scale` before.
template <bool is_scaled, class T>
[[gnu::always_inline]] inline T sum_of_products(const T* x, const T* y, T scale, Index n) {
  const auto scaled = [scale](T value) { return is_scaled ? value * scale : value; };
  T total = 0;
  for (Index first = 0; first < n; first += canonical_segment) {
    const Index end = std::min(n, first + canonical_segment);
    T lane[sum_lanes] = {};
    Index e = first;
    for (; e + sum_lanes <= end; e += sum_lanes)
      for (Index l = 0; l < sum_lanes; ++l) lane[l] = std::fma(scaled(x[e + l]), scaled(y[e + l]), lane[l]);
    for (Index l = 0; e < end; ++e, ++l) lane[l] = std::fma(scaled(x[e]), scaled(y[e]), lane[l]);
    const T chunk = fold_lanes(lane);
    total = first == 0 ? chunk : total + chunk;
  }
  return total;
}

/// Returns the sum of the squares of x's parts, n ≥ 1, which are multiplied by `scale` before.
template <class T>
[[gnu::always_inline]] inline Part<T> sum_of_squares(const Part<T>* x, Index ld, Part<T> scale, Index n) {
  if constexpr (!is_complex<T>) {
    return sum_of_products<true>(x, x, scale, n);
  } else {
    Part<T> total = 0;
    for (Index first = 0; first < n; first += segment_length<T>) {
      const Index end = std::min(n, first + segment_length<T>);
      Part<T> lane[sum_lanes] = {};
      const auto add = [x, ld, scale](Index e, Part<T> sum) {
        const Part<T> re = x[e] * scale, im = x[ld + e] * scale;
        return std::fma(im, im, std::fma(re, re, sum));
      };
      Index e = first;
      for (; e + sum_lanes <= end; e += sum_lanes)
        for (Index l = 0; l < sum_lanes; ++l) lane[l] = add(e + l, lane[l]);
      for (Index l = 0; e < end; ++e, ++l) lane[l] = add(e, lane[l]);
      const Part<T> chunk = fold_lanes(lane);
      total = first == 0 ? chunk : total + chunk;
    }
    return total;
  }
}

/// Returns the sum of v(i)·c(i), n ≥ 1, where v is conjugated.
template <class T>
[[gnu::always_inline]] inline T inner_product(const Part<T>* v, const Part<T>* c, [[maybe_unused]] Index ld, Index n) {
  if constexpr (!is_complex<T>) {
    return sum_of_products<false>(v, c, T(1), n);
  } else {
    T total = 0;
    for (Index first = 0; first < n; first += segment_length<T>) {
      const Index end = std::min(n, first + segment_length<T>);
      Part<T> re[sum_lanes] = {}, im[sum_lanes] = {};
      Index e = first;
      for (; e + sum_lanes <= end; e += sum_lanes)
        for (Index l = 0; l < sum_lanes; ++l) {
          re[l] = std::fma(v[ld + e + l], c[ld + e + l], std::fma(v[e + l], c[e + l], re[l]));
          im[l] = std::fma(-v[ld + e + l], c[e + l], std::fma(v[e + l], c[ld + e + l], im[l]));
        }
      for (Index l = 0; e < end; ++e, ++l) {
        re[l] = std::fma(v[ld + e], c[ld + e], std::fma(v[e], c[e], re[l]));
        im[l] = std::fma(-v[ld + e], c[e], std::fma(v[e], c[ld + e], im[l]));
      }
      const T chunk{fold_lanes(re), fold_lanes(im)};
      total = first == 0 ? chunk : total + chunk;
    }
    return total;
  }
}

/// The magnitude of a number as an integer; Inf and NaN are above all.
template <class T>
using Magnitude = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
template <class T>
[[gnu::always_inline]] inline Magnitude<T> magnitude_of(T value) {
  return std::bit_cast<Magnitude<T>>(value) & std::numeric_limits<Magnitude<T>>::max();
}

/// Returns 2^−e, where 2^e is the power of two at or below the number of this key, and both are normal numbers.
template <class T>
[[gnu::always_inline]] inline T inverse_power(Magnitude<T> key) {
  constexpr int digits = std::numeric_limits<T>::digits - 1;
  constexpr Magnitude<T> highest =
      2 * (std::numeric_limits<T>::max_exponent - 1) - 1; // the exponent field of 2^−e is ≥ 1
  const Magnitude<T> field = std::clamp<Magnitude<T>>(key >> digits, 1, highest);
  return std::bit_cast<T>((highest + 1 - field) << digits);
}

/// Multiplies n numbers by `scale` and then by `factor`.
template <class T>
[[gnu::always_inline]] inline void scale_by(Part<T>* __restrict x, [[maybe_unused]] Index ld, Part<T> scale, T factor,
                                            Index n) {
  if constexpr (is_complex<T>) {
    const Part<T> re = factor.real(), im = factor.imag();
    if (im == 0) {
      for (Index p = 0; p < 2; ++p)
        for (Index i = 0; i < n; ++i) x[p * ld + i] = re * (x[p * ld + i] * scale);
      return;
    }
    for (Index i = 0; i < n; ++i) {
      const Part<T> x_re = x[i] * scale, x_im = x[ld + i] * scale;
      x[i] = std::fma(-im, x_im, re * x_re);
      x[ld + i] = std::fma(im, x_re, re * x_im);
    }
  } else {
    for (Index i = 0; i < n; ++i) x[i] = x[i] * scale * factor;
  }
}

/// Returns the largest magnitude of the parts of elements first … n − 1.
template <class T>
[[gnu::always_inline]] inline Magnitude<Part<T>> largest_part(const Part<T>* x, Index ld, Index first, Index n) {
  Magnitude<Part<T>> largest = 0;
  for (Index p = 0; p < Number<T>::parts; ++p)
    for (Index i = first; i < n; ++i) largest = std::max(largest, magnitude_of(x[p * ld + i]));
  return largest;
}

/// Replaces x, of n ≥ 1 elements, by v, and returns tau; `beta` is what remains of x.
template <class T>
[[gnu::always_inline]] inline T find_reflection(Part<T>* x, Index ld, Index n, T& beta) {
  using P = Part<T>;
  constexpr Index last = Number<T>::parts - 1; // 0 where there are no imaginary parts
  const P re = x[0], im = last == 0 ? P(0) : x[last * ld];
  const auto make_one = [&] {
    x[last * ld] = 0;
    x[0] = 1;
  };
  if constexpr (is_complex<T>)
    beta = {re, im};
  else
    beta = re;
  const Magnitude<P> rest = std::max(largest_part<T>(x, ld, 1, n), magnitude_of(im));
  if (rest == 0) {
    make_one();
    return 0;
  }
  const P scale = inverse_power<P>(std::max(rest, magnitude_of(re)));
  const P norm = std::sqrt(sum_of_squares<T>(x, ld, scale, n));
  const P from = re * scale, to = std::signbit(re) ? norm : -norm;
  if constexpr (is_complex<T>) {
    const P turned = im * scale;
    scale_by<T>(x + 1, ld, scale, Divisor<T>({from - to, turned}).divide(T(1)), n - 1);
    make_one();
    beta = to * (1 / scale);
    return {(to - from) / to, -turned / to};
  } else {
    scale_by<T>(x + 1, ld, scale, 1 / (from - to), n - 1);
    make_one();
    beta = to * (1 / scale);
    return (to - from) / to;
  }
}

/// c −= (vᴴ·c·tau)·v, where tau is conjugated. It is tau that is negated: a compiler may negate the result of an fma by
/// another instruction, whose zeros have other signs.
template <class T>
[[gnu::always_inline]] inline void reflect(const Part<T>* __restrict v, Index ld, T tau, Part<T>* __restrict c,
                                           Index n) {
  const T factor = scaled(-conjugated_if(true, tau), inner_product<T>(v, c, ld, n));
  if constexpr (is_complex<T>) {
    const Part<T> re = factor.real(), im = factor.imag();
    for (Index i = 0; i < n; ++i) {
      c[i] = std::fma(im, -v[ld + i], std::fma(re, v[i], c[i]));
      c[ld + i] = std::fma(im, v[i], std::fma(re, v[ld + i], c[ld + i]));
    }
  } else {
    for (Index i = 0; i < n; ++i) c[i] = std::fma(factor, v[i], c[i]);
  }
}

} // namespace tessera::linear_algebra
