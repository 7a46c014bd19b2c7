#include "qr_panel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tessera/backend/kernel.hpp>

#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// The lanes of a sum along a column.
constexpr Index sum_lanes = 32;
/// The columns whose sums with a group go side by side: enough chains to hide latency, and no more than registers.
template <class T>
constexpr Index columns_at_once = sizeof(T) == 4 ? 8 : 6;

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

/// Replaces x, of n ≥ 1 elements, by v, and returns tau; `beta` is what remains of x.
template <class T>
[[gnu::always_inline]] inline T find_reflection(T* x, Index n, T& beta) {
  const T alpha = x[0];
  beta = alpha;
  x[0] = 1;
  Magnitude<T> largest = 0;
  for (Index i = 1; i < n; ++i) largest = std::max(largest, magnitude_of(x[i]));
  if (largest == 0) return 0;
  const T scale = inverse_power<T>(std::max(largest, magnitude_of(alpha)));
  x[0] = alpha;
  const T norm = std::sqrt(sum_of_products<true>(x, x, scale, n));
  const T from = alpha * scale, to = std::signbit(alpha) ? norm : -norm;
  const T inverse = 1 / (from - to);
  for (Index i = 1; i < n; ++i) x[i] = x[i] * scale * inverse;
  x[0] = 1;
  beta = to * (1 / scale);
  return (to - from) / to;
}

/// c −= (vᵀ·c·tau)·v
template <class T>
[[gnu::always_inline]] inline void reflect(const T* __restrict v, T tau, T* __restrict c, Index n) {
  const T factor = -(tau * sum_of_products<false>(v, c, T(1), n));
  for (Index i = 0; i < n; ++i) c[i] = std::fma(factor, v[i], c[i]);
}

/// Factors the columns of a group, to which all reflections before it have been applied.
template <class T>
[[gnu::always_inline]] inline void reflect_columns(const ReflectionPanel<T>& panel, Index first, Index end,
                                                   SmallMatrix<T>& r, T* tau) {
  for (Index j = first; j < end; ++j) {
    T* const column = panel.column(j);
    tau[j] = find_reflection(column + j, panel.rows - j, r.at(j, j));
    for (Index i = 0; i < j; ++i) {
      r.at(j, i) = column[i];
      column[i] = 0;
    }
    for (Index c = j + 1; tau[j] != 0 && c < end; ++c) reflect(column + j, tau[j], panel.column(c) + j, panel.rows - j);
  }
}

TESSERA_WIDE_CLONES void factor_reflection_group(const ReflectionPanel<float>& panel, Index first, Index end,
                                                 SmallMatrix<float>& r, float* tau) {
  reflect_columns(panel, first, end, r, tau);
}
TESSERA_WIDE_CLONES void factor_reflection_group(const ReflectionPanel<double>& panel, Index first, Index end,
                                                 SmallMatrix<double>& r, double* tau) {
  reflect_columns(panel, first, end, r, tau);
}

/// sums[c][l] = Σ v(r, l)·column(c)(r) for some columns; `v` has a group by rows.
template <Index count, class T>
[[gnu::always_inline]] inline void sum_columns(Index rows, const T* __restrict v, const T* const* columns,
                                               T (*__restrict sums)[reflection_group]) {
  for (Index first = 0; first < rows; first += canonical_segment) {
    const Index end = std::min(rows, first + canonical_segment);
    T chain[count][reflection_group] = {};
    for (Index r = first; r < end; ++r)
#pragma GCC unroll 8
      for (Index c = 0; c < count; ++c)
        for (Index l = 0; l < reflection_group; ++l)
          chain[c][l] = std::fma(v[r * reflection_group + l], columns[c][r], chain[c][l]);
    for (Index c = 0; c < count; ++c)
      for (Index l = 0; l < reflection_group; ++l) sums[c][l] = first == 0 ? chain[c][l] : sums[c][l] + chain[c][l];
  }
}

/// Computes the sums of all columns of the panel with the group that begins at column `first`.
template <class T>
[[gnu::always_inline]] inline void sum_panel(const ReflectionPanel<T>& panel, Index first, Index width,
                                             T (*sums)[reflection_group]) {
  for (Index r = 0; r < panel.rows; ++r)
    for (Index l = 0; l < reflection_group; ++l)
      panel.by_rows[r * reflection_group + l] = l < width ? panel.column(first + l)[r] : T(0);
  constexpr Index several = columns_at_once<T>;
  const T* columns[several];
  for (Index c = 0; c < panel.width; c += several) {
    const Index count = std::min(several, panel.width - c);
    for (Index i = 0; i < several; ++i) columns[i] = panel.column(c + std::min(i, count - 1));
    T found[several][reflection_group];
    sum_columns<several>(panel.rows, panel.by_rows, columns, found);
    for (Index i = 0; i < count; ++i) std::copy(found[i], found[i] + reflection_group, sums[c + i]);
  }
}

/// A group of floats fills the vectors of processors with FMA.
TESSERA_FMA_CLONES void group_sums(const ReflectionPanel<float>& panel, Index first, Index width,
                                   float (*sums)[reflection_group]) {
  sum_panel(panel, first, width, sums);
}
TESSERA_WIDE_CLONES void group_sums(const ReflectionPanel<double>& panel, Index first, Index width,
                                    double (*sums)[reflection_group]) {
  sum_panel(panel, first, width, sums);
}

/// Applies a group's reflections to the columns after it, of which `sums` has V's products with them.
template <class T>
[[gnu::always_inline]] inline void reflect_rest(const ReflectionPanel<T>& panel, Index first, const SmallMatrix<T>& t,
                                                T (*sums)[reflection_group]) {
  constexpr Index strip = reflection_padding<T>;
  const Index after = first + reflection_group;
  for (Index c = after; c < panel.width; ++c) {
    T w[reflection_group] = {};
    for (Index k = 0; k < reflection_group; ++k)
      for (Index l = 0; l < reflection_group; ++l) w[l] = std::fma(t.at(first + k, first + l), sums[c][k], w[l]);
    std::copy(w, w + reflection_group, sums[c]);
  }
  for (Index r = first; r < panel.rows; r += strip)
    for (Index c = after; c < panel.width; ++c) {
      T chain[strip] = {};
      for (Index k = 0; k < reflection_group; ++k)
        for (Index l = 0; l < strip; ++l) chain[l] = std::fma(panel.column(first + k)[r + l], sums[c][k], chain[l]);
      T* const to = panel.column(c) + r;
      for (Index l = 0; l < strip; ++l) to[l] -= chain[l];
    }
}

TESSERA_WIDE_CLONES void update_rest(const ReflectionPanel<float>& panel, Index first, const SmallMatrix<float>& t,
                                     float (*sums)[reflection_group]) {
  reflect_rest(panel, first, t, sums);
}
TESSERA_WIDE_CLONES void update_rest(const ReflectionPanel<double>& panel, Index first, const SmallMatrix<double>& t,
                                     double (*sums)[reflection_group]) {
  reflect_rest(panel, first, t, sums);
}

/// Computes the columns first … end − 1 of T.
template <class T>
[[gnu::always_inline]] inline void extend_triangle(Index first, Index end, const SmallMatrix<T>& g, const T* tau,
                                                   SmallMatrix<T>& t) {
  T by_columns[reflection_panel][reflection_panel]; // of the T that is known, so that chains lie side by side
  for (Index k = 0; k < end; ++k)
    for (Index r = 0; r <= k; ++r) by_columns[k][r] = t.at(r, k);
  for (Index i = first; i < end; ++i) {
    T chain[reflection_panel] = {};
    for (Index k = 0; k < i; ++k)
      for (Index r = 0; r <= k; ++r) chain[r] = std::fma(by_columns[k][r], g.at(i, k), chain[r]);
    for (Index r = 0; r < i; ++r) by_columns[i][r] = -tau[i] * chain[r];
    by_columns[i][i] = tau[i];
    for (Index r = 0; r <= i; ++r) t.at(r, i) = by_columns[i][r];
  }
}

TESSERA_WIDE_CLONES void columns_of_triangle(Index first, Index end, const SmallMatrix<float>& g, const float* tau,
                                             SmallMatrix<float>& t) {
  extend_triangle(first, end, g, tau, t);
}
TESSERA_WIDE_CLONES void columns_of_triangle(Index first, Index end, const SmallMatrix<double>& g, const double* tau,
                                             SmallMatrix<double>& t) {
  extend_triangle(first, end, g, tau, t);
}

} // namespace

template <class T>
void factor_reflections(const ReflectionPanel<T>& panel, SmallMatrix<T>& r, T* tau, SmallMatrix<T>& t) {
  SmallMatrix<T> g;
  T sums[reflection_panel][reflection_group];
  for (Index first = 0; first < panel.width; first += reflection_group) {
    const Index width = std::min(reflection_group, panel.width - first), end = first + width;
    factor_reflection_group(panel, first, end, r, tau);
    group_sums(panel, first, width, sums);
    for (Index i = first; i < end; ++i)
      for (Index k = 0; k < i; ++k) g.at(i, k) = sums[k][i - first];
    columns_of_triangle(first, end, g, tau, t);
    if (end < panel.width) update_rest(panel, first, t, sums);
  }
}

template <class T>
void make_triangle(Index width, const SmallMatrix<T>& g, const T* tau, SmallMatrix<T>& t) {
  columns_of_triangle(0, width, g, tau, t);
}

template void factor_reflections(const ReflectionPanel<float>&, SmallMatrix<float>&, float*, SmallMatrix<float>&);
template void factor_reflections(const ReflectionPanel<double>&, SmallMatrix<double>&, double*, SmallMatrix<double>&);
template void make_triangle(Index, const SmallMatrix<float>&, const float*, SmallMatrix<float>&);
template void make_triangle(Index, const SmallMatrix<double>&, const double*, SmallMatrix<double>&);

} // namespace tessera::linear_algebra
