#include "qr_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <tessera/backend/kernel.hpp>

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
  for (Index first = 0; first < n; first += canonical_segment) {
    T chain = 0;
    for (Index i = first; i < std::min(n, first + canonical_segment); ++i) chain = std::fma(x(i), y(i), chain);
    total = first == 0 ? chain : total + chain;
  }
  return total;
}

/// Returns the sum of x(i)·y(i), i < n, in 32 lanes for each chunk of 1024.
template <class T, class X, class Y>
T sum_in_lanes(Index n, const X& x, const Y& y) {
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

/// The reflections of a panel: v(k) is 0 above row k of the panel, 1 there, and stored below.
template <class T>
struct ModelPanel {
  Index rows, width;
  Grid<T> stored;
  const std::remove_const_t<T>* tau;

  std::remove_const_t<T> v(Index r, Index k) const { return r < k ? 0 : r == k ? 1 : stored.at(r, k); }
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
  bool is_zero = true, has_nan = false;
  T largest = std::abs(x(0));
  for (Index i = 1; i < n; ++i) {
    is_zero = is_zero && x(i) == 0;
    largest = std::max(largest, std::abs(x(i)));
  }
  if (is_zero) return 0;
  for (Index i = 0; i < n; ++i) has_nan = has_nan || std::isnan(x(i));
  const T power = power_of_two_below(has_nan ? std::numeric_limits<T>::quiet_NaN() : largest);
  const auto scaled = [&](Index i) { return x(i) * (1 / power); };
  const T alpha = scaled(0), norm = std::sqrt(sum_in_lanes<T>(n, scaled, scaled));
  const T beta = std::signbit(x(0)) ? norm : -norm, inverse = 1 / (alpha - beta);
  for (Index i = 1; i < n; ++i) x(i) = scaled(i) * inverse;
  x(0) = beta * power;
  return (beta - alpha) / beta;
}

/// Computes the columns first … end − 1 of T.
template <class T>
void model_triangle(const ModelPanel<T>& h, Index first, Index end, SmallMatrix<std::remove_const_t<T>>& t) {
  using Number = std::remove_const_t<T>;
  const auto column = [&h](Index k) { return [&h, k](Index r) { return h.v(r, k); }; };
  for (Index i = first; i < end; ++i) {
    Number products[panel_columns];
    for (Index k = 0; k < i; ++k) products[k] = sum_as_products<Number>(h.rows, column(k), column(i));
    for (Index r = 0; r < i; ++r) {
      Number chain = 0;
      for (Index k = r; k < i; ++k) chain = std::fma(t.at(r, k), products[k], chain);
      t.at(r, i) = -h.tau[i] * chain;
    }
    t.at(i, i) = h.tau[i];
  }
}

/// Applies the block of the reflections first … end − 1, or its transpose, to a column: rows from `first` on change.
template <class T, class Column>
void apply_block(const ModelPanel<T>& h, Index first, Index end, const SmallMatrix<std::remove_const_t<T>>& t,
                 bool transposed, const Column& c) {
  using Number = std::remove_const_t<T>;
  Number sums[panel_columns], w[panel_columns];
  for (Index k = first; k < end; ++k)
    sums[k] = sum_as_products<Number>(
        h.rows, [&](Index r) { return h.v(r, k); }, c);
  for (Index i = first; i < end; ++i) {
    w[i] = 0;
    for (Index k = first; k < end; ++k) w[i] = std::fma(transposed ? t.at(k, i) : t.at(i, k), sums[k], w[i]);
  }
  for (Index r = first; r < h.rows; ++r) {
    Number chain = 0;
    for (Index k = first; k < end; ++k) chain = std::fma(h.v(r, k), w[k], chain);
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
        for (Index c = k + 1; h.tau[k] != 0 && c < end; ++c) {
          const T w = sum_in_lanes<T>(
              h.rows - k, [&](Index i) { return h.v(k + i, k); }, [&](Index i) { return h.stored.at(k + i, c); });
          for (Index r = k; r < h.rows; ++r)
            h.stored.at(r, c) = std::fma(-(h.tau[k] * w), h.v(r, k), h.stored.at(r, c));
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

/// Overwrites a panel's V by the columns of Q that its reflections make of the identity's.
template <class T>
void form_columns(const ModelPanel<T>& h, const SmallMatrix<T>& t) {
  SmallMatrix<T> w; // T·Vᵀ·I
  for (Index c = 0; c < h.width; ++c) {
    T sums[panel_columns];
    for (Index k = 0; k < h.width; ++k)
      sums[k] = sum_as_products<T>(
          h.rows, [&](Index r) { return h.v(r, k); }, [&](Index r) { return T(r == c); });
    for (Index i = 0; i < h.width; ++i)
      for (Index k = 0; k < h.width; ++k) w.at(i, c) = std::fma(t.at(i, k), sums[k], w.at(i, c));
  }
  for (Index r = 0; r < h.rows; ++r) {
    T row[panel_columns];
    for (Index k = 0; k < h.width; ++k) row[k] = h.v(r, k);
    for (Index c = 0; c < h.width; ++c) {
      T chain = 0;
      for (Index k = 0; k < h.width; ++k) chain = std::fma(row[k], w.at(k, c), chain);
      h.stored.at(r, c) = T(r == c) - chain;
    }
  }
}

template <class T>
void form_by_formula(Index m, Index n, Index k, Grid<T> a, const T* tau) {
  for (Index c = k; c < n; ++c)
    for (Index r = 0; r < m; ++r) a.at(r, c) = T(r == c);
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

TESSERA_FLAT_FMA_CLONES void model_qr(Index m, Index n, Grid<float> a, float* tau) { factor_by_formula(m, n, a, tau); }
TESSERA_FLAT_FMA_CLONES void model_qr(Index m, Index n, Grid<double> a, double* tau) {
  factor_by_formula(m, n, a, tau);
}

TESSERA_FLAT_FMA_CLONES void model_apply_q(Index m, Index k, Grid<const float> v, const float* tau, bool transposed,
                                           Index count, Grid<float> c) {
  apply_by_formula(m, k, v, tau, transposed, count, c);
}
TESSERA_FLAT_FMA_CLONES void model_apply_q(Index m, Index k, Grid<const double> v, const double* tau, bool transposed,
                                           Index count, Grid<double> c) {
  apply_by_formula(m, k, v, tau, transposed, count, c);
}

TESSERA_FLAT_FMA_CLONES void model_form_q(Index m, Index n, Index k, Grid<float> a, const float* tau) {
  form_by_formula(m, n, k, a, tau);
}
TESSERA_FLAT_FMA_CLONES void model_form_q(Index m, Index n, Index k, Grid<double> a, const double* tau) {
  form_by_formula(m, n, k, a, tau);
}

} // namespace tessera::linear_algebra
