#include "qr_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "qr_panel.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// The contract's widths, stated here once more, so that tests notice where the blocked algorithm has others.
constexpr Index panel_columns = 32, group_columns = 8;
static_assert(panel_columns <= reflection_panel, "SmallMatrix has room for a panel");

/// Returns the sum of x(i)·y(i), i < n, as products add: a chain for each segment, and the segments in their order.
template <class T, class X, class Y>
T sum_as_products(Index n, const X& x, const Y& y) {
  T total = 0;
  for (Index first = 0; first < n; first += segment_length<T>) {
    T chain = 0;
    for (Index i = first; i < std::min(n, first + segment_length<T>); ++i) chain = multiply_add(x(i), y(i), chain);
    total = first == 0 ? chain : total + chain;
  }
  return total;
}

/// Returns the sum of x(i)·y(i), i < n, in 32 lanes for each chunk of a segment's length.
template <class T, class X, class Y>
T sum_in_lanes(Index n, const X& x, const Y& y) {
  T total = 0;
  for (Index first = 0; first < n; first += segment_length<T>) {
    T lane[32] = {};
    for (Index i = first; i < std::min(n, first + segment_length<T>); ++i)
      lane[i % 32] = multiply_add(x(i), y(i), lane[i % 32]);
    for (int width = 16; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
    total = first == 0 ? lane[0] : total + lane[0];
  }
  return total;
}

/// The reflections of a panel: v(k) is 0 above row k of the panel, 1 there, and stored below.
template <class T>
struct ModelPanel {
  Index rows, width;
  Grid<T> stored;
  const std::remove_const_t<T>* tau;

  using Element = std::remove_const_t<T>;
  Element v(Index r, Index k) const { return r < k ? Element(0) : r == k ? Element(1) : stored.at(r, k); }
  Element conjugate(Index r, Index k) const { return conjugated_if(true, v(r, k)); }
};

template <class T>
T power_of_two_below(T x) {
  using Limits = std::numeric_limits<T>;
  if (!(x >= Limits::min())) return std::isnan(x) ? std::ldexp(T(1), Limits::max_exponent - 2) : Limits::min();
  if (std::isinf(x)) return std::ldexp(T(1), Limits::max_exponent - 2);
  return std::ldexp(T(1), std::min(std::ilogb(x), Limits::max_exponent - 2));
}

/// Replaces x(0 … n − 1) by beta and v(1 … n − 1), and returns tau.
template <class T, class X>
T model_reflection(Index n, const X& x) {
  using P = Part<T>;
  bool is_zero = std::imag(x(0)) == 0, has_nan = false;
  P largest = 0;
  for (Index i = 0; i < n; ++i) {
    is_zero = is_zero && (i == 0 || x(i) == T(0));
    for (const P part : {P(std::real(x(i))), P(std::imag(x(i)))}) {
      has_nan = has_nan || std::isnan(part);
      largest = std::max(largest, std::abs(part));
    }
  }
  if (is_zero) return 0;
  const P power = power_of_two_below(has_nan ? std::numeric_limits<P>::quiet_NaN() : largest);
  const auto scaled_down = [&](Index i) { return x(i) * (1 / power); };
  const auto conjugate = [&](Index i) { return conjugated_if(true, scaled_down(i)); };
  const T alpha = scaled_down(0);
  const P norm = std::sqrt(std::real(sum_in_lanes<T>(n, scaled_down, conjugate)));
  const P beta = std::signbit(P(std::real(x(0)))) ? norm : -norm;
  const T inverse = Divisor<T>(alpha - beta).divide(T(1));
  for (Index i = 1; i < n; ++i) x(i) = scaled(inverse, scaled_down(i));
  x(0) = beta * power;
  if constexpr (is_complex<T>)
    return {(beta - alpha.real()) / beta, -alpha.imag() / beta};
  else
    return (beta - alpha) / beta;
}

/// Computes the columns first … end − 1 of T.
template <class T>
void model_triangle(const ModelPanel<T>& h, Index first, Index end, SmallMatrix<std::remove_const_t<T>>& t) {
  using Number = std::remove_const_t<T>;
  const auto column = [&h](Index k) { return [&h, k](Index r) { return h.v(r, k); }; };
  for (Index i = first; i < end; ++i) {
    Number products[panel_columns];
    for (Index k = 0; k < i; ++k)
      products[k] = sum_as_products<Number>(h.rows, column(k), [&](Index r) { return h.conjugate(r, i); });
    for (Index r = 0; r < i; ++r) {
      Number chain = 0;
      for (Index k = r; k < i; ++k) chain = multiply_add(t.at(r, k), conjugated_if(true, products[k]), chain);
      t.at(r, i) = scaled(-h.tau[i], chain);
    }
    t.at(i, i) = h.tau[i];
  }
}

/// Applies the block of the reflections first … end − 1, or its conjugate transpose, to a column: rows from `first` on
/// change. The column's numbers are the first factors, and then the ones that are made of them.
template <class T, class Column>
void apply_block(const ModelPanel<T>& h, Index first, Index end, const SmallMatrix<std::remove_const_t<T>>& t,
                 bool transposed, const Column& c) {
  using Number = std::remove_const_t<T>;
  Number sums[panel_columns], w[panel_columns];
  for (Index k = first; k < end; ++k)
    sums[k] = sum_as_products<Number>(h.rows, c, [&](Index r) { return h.conjugate(r, k); });
  for (Index i = first; i < end; ++i) {
    w[i] = 0;
    for (Index k = first; k < end; ++k)
      w[i] = multiply_add(sums[k], transposed ? conjugated_if(true, t.at(k, i)) : t.at(i, k), w[i]);
  }
  for (Index r = first; r < h.rows; ++r) {
    Number chain = 0;
    for (Index k = first; k < end; ++k) chain = multiply_add(w[k], h.v(r, k), chain);
    c(r) -= chain;
  }
}

template <class T>
void factor_by_formula(Index m, Index n, Grid<T> a, T* tau) {
  const Index steps = std::min(m, n);
  for (Index j = 0; j < steps; j += panel_columns) {
    const ModelPanel<T> h{m - j, std::min(panel_columns, steps - j), {&a.at(j, j), a.of_row, a.of_column}, tau + j};
    const auto column = [&h](Index c) { return [&h, c](Index r) -> T& { return h.stored.at(r, c); }; };
    SmallMatrix<T> t;
    for (Index first = 0; first < h.width; first += group_columns) {
      const Index end = std::min(first + group_columns, h.width);
      for (Index k = first; k < end; ++k) {
        tau[j + k] = model_reflection<T>(h.rows - k, [&](Index i) -> T& { return h.stored.at(k + i, k); });
        for (Index c = k + 1; h.tau[k] != T(0) && c < end; ++c) {
          const T sum = sum_in_lanes<T>(
              h.rows - k, [&](Index i) { return h.conjugate(k + i, k); },
              [&](Index i) { return h.stored.at(k + i, c); });
          const T w = scaled(-conjugated_if(true, h.tau[k]), sum);
          for (Index r = k; r < h.rows; ++r) h.stored.at(r, c) = multiply_add(w, h.v(r, k), h.stored.at(r, c));
        }
      }
      model_triangle(h, first, end, t);
      for (Index c = end; c < h.width; ++c) apply_block(h, first, end, t, true, column(c));
    }
    for (Index c = h.width; c < n - j; ++c) apply_block(h, 0, h.width, t, true, column(c));
  }
}

template <class T>
void apply_by_formula(Index m, Index k, Grid<const T> v, const T* tau, bool transposed, Index count, Grid<T> c) {
  const Index panels = (k + panel_columns - 1) / panel_columns;
  for (Index step = 0; step < panels; ++step) {
    const Index j = (transposed ? step : panels - 1 - step) * panel_columns;
    const ModelPanel<const T> h{m - j, std::min(panel_columns, k - j), {&v.at(j, j), v.of_row, v.of_column}, tau + j};
    SmallMatrix<T> t;
    model_triangle(h, 0, h.width, t);
    for (Index l = 0; l < count; ++l)
      apply_block(h, 0, h.width, t, transposed, [&](Index r) -> T& { return c.at(j + r, l); });
  }
}

template <class T>
T unit_element(Index r, Index c) {
  return r == c ? T(1) : T(0);
}

/// Overwrites a panel's V by the columns of Q that its reflections make of the identity's.
template <class T>
void form_columns(const ModelPanel<T>& h, const SmallMatrix<T>& t) {
  SmallMatrix<T> w; // T·Vᴴ·I
  for (Index c = 0; c < h.width; ++c) {
    T sums[panel_columns];
    for (Index k = 0; k < h.width; ++k)
      sums[k] = sum_as_products<T>(
          h.rows, [&](Index r) { return unit_element<T>(r, c); }, [&](Index r) { return h.conjugate(r, k); });
    for (Index i = 0; i < h.width; ++i)
      for (Index k = 0; k < h.width; ++k) w.at(i, c) = multiply_add(sums[k], t.at(i, k), w.at(i, c));
  }
  for (Index r = 0; r < h.rows; ++r) {
    T row[panel_columns];
    for (Index k = 0; k < h.width; ++k) row[k] = h.v(r, k);
    for (Index c = 0; c < h.width; ++c) {
      T chain = 0;
      for (Index k = 0; k < h.width; ++k) chain = multiply_add(w.at(k, c), row[k], chain);
      h.stored.at(r, c) = unit_element<T>(r, c) - chain;
    }
  }
}

template <class T>
void form_by_formula(Index m, Index n, Index k, Grid<T> a, const T* tau) {
  for (Index c = k; c < n; ++c)
    for (Index r = 0; r < m; ++r) a.at(r, c) = unit_element<T>(r, c);
  for (Index j = (k + panel_columns - 1) / panel_columns * panel_columns; (j -= panel_columns) >= 0;) {
    const ModelPanel<T> h{m - j, std::min(panel_columns, k - j), {&a.at(j, j), a.of_row, a.of_column}, tau + j};
    SmallMatrix<T> t;
    model_triangle(h, 0, h.width, t);
    for (Index c = j + h.width; c < n; ++c)
      apply_block(h, 0, h.width, t, false, [&](Index r) -> T& { return a.at(j + r, c); });
    form_columns(h, t);
    for (Index c = j; c < j + h.width; ++c)
      for (Index r = 0; r < j; ++r) a.at(r, c) = 0;
  }
}

} // namespace

#define TESSERA_MODELS(T)                                                                                         \
  TESSERA_FLAT_FMA_CLONES void model_qr(Index m, Index n, Grid<T> a, T* tau) { factor_by_formula(m, n, a, tau); } \
  TESSERA_FLAT_FMA_CLONES void model_apply_q(Index m, Index k, Grid<const T> v, const T* tau, bool transposed,    \
                                             Index count, Grid<T> c) {                                            \
    apply_by_formula(m, k, v, tau, transposed, count, c);                                                         \
  }                                                                                                               \
  TESSERA_FLAT_FMA_CLONES void model_form_q(Index m, Index n, Index k, Grid<T> a, const T* tau) {                 \
    form_by_formula(m, n, k, a, tau);                                                                             \
  }
TESSERA_MODELS(float)
TESSERA_MODELS(double)
TESSERA_MODELS(std::complex<float>)
TESSERA_MODELS(std::complex<double>)
#undef TESSERA_MODELS

} // namespace tessera::linear_algebra
