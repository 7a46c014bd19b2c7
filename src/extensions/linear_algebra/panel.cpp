#include "panel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// The right-hand sides that are solved at once: enough vectors to hide the latency of a chain's multiply-adds.
template <class T>
constexpr Index lanes = Index{256} / static_cast<Index>(sizeof(T));

/// Solves for `lanes` right-hand sides; row i of x and s has their elements i. Forward substitution, whose chains are
/// of different right-hand sides and so independent.
template <class T>
[[gnu::always_inline]] inline void substitute(const TriangleBlock<T>& triangle, T* __restrict x,
                                              const T* __restrict s) {
  constexpr Index count = lanes<T>;
  for (Index i = 0; i < triangle.size; ++i) {
    const T* const row = triangle.t + i * triangle.ld;
    T sum[count];
    for (Index l = 0; l < count; ++l) sum[l] = s[i * count + l];
    for (Index k = 0; k < i; ++k)
      for (Index l = 0; l < count; ++l) sum[l] = std::fma(row[k], x[k * count + l], sum[l]);
    for (Index l = 0; l < count; ++l) x[i * count + l] -= sum[l];
    if (!triangle.has_unit_diagonal)
      for (Index l = 0; l < count; ++l) x[i * count + l] /= row[i];
  }
}

TESSERA_WIDE_CLONES void substitute_forward(const TriangleBlock<float>& triangle, float* x, const float* s) {
  substitute(triangle, x, s);
}
TESSERA_WIDE_CLONES void substitute_forward(const TriangleBlock<double>& triangle, double* x, const double* s) {
  substitute(triangle, x, s);
}

/// Continues the sums s(r, 0 … 7) of a group of columns by l(r, k)·u(k, 0 … 7), k = 0 … steps − 1.
constexpr Index group = 8;

template <class T>
[[gnu::always_inline]] inline void continue_sums(Index steps, const T* __restrict l, const T* __restrict u, Index ldu,
                                                 T* __restrict s) {
  T sum[group];
  for (Index c = 0; c < group; ++c) sum[c] = s[c];
  for (Index k = 0; k < steps; ++k)
    for (Index c = 0; c < group; ++c) sum[c] = std::fma(l[k], u[k * ldu + c], sum[c]);
  for (Index c = 0; c < group; ++c) s[c] = sum[c];
}

/// Brings the columns first … first + 7 of a panel up to date: the rows above `first` become U, in the others the sums
/// go on.
template <class T>
[[gnu::always_inline]] inline void bring_up(const LuPanel<T>& panel, Index first, Index width) {
  for (Index r = 0; r < panel.rows; ++r) {
    T* const a = panel.a + r * panel.lda;
    T* const s = panel.s + r * panel.lds + first;
    const Index steps = std::min(r, first);
    if (width == group)
      continue_sums(steps, a, panel.a + first, panel.lda, s);
    else
      for (Index k = 0; k < steps; ++k)
        for (Index c = 0; c < width; ++c) s[c] = std::fma(a[k], panel.a[k * panel.lda + first + c], s[c]);
    if (r < first)
      for (Index c = 0; c < width; ++c) a[first + c] -= s[c];
  }
}

TESSERA_WIDE_CLONES void bring_group(const LuPanel<float>& panel, Index first, Index width) {
  bring_up(panel, first, width);
}
TESSERA_WIDE_CLONES void bring_group(const LuPanel<double>& panel, Index first, Index width) {
  bring_up(panel, first, width);
}

/// Factors the columns first … first + width − 1, whose sums hold all terms before `first`.
template <class T>
[[gnu::always_inline]] inline Index factor_columns(const LuPanel<T>& panel, Index first, Index width, Index* pivots) {
  Index singular = -1;
  for (Index j = first; j < first + width; ++j) {
    Index pivot = -1;
    T largest = 0;
    for (Index r = j; r < panel.rows; ++r) {
      T& value = panel.a[r * panel.lda + j];
      value -= panel.s[r * panel.lds + j];
      const T size = std::abs(value);
      if (pivot < 0 || size > largest || (std::isnan(size) && !std::isnan(largest))) {
        pivot = r;
        largest = size;
      }
    }
    pivots[j] = pivot;
    if (pivot != j) {
      std::swap_ranges(panel.a + j * panel.lda, panel.a + j * panel.lda + panel.width, panel.a + pivot * panel.lda);
      std::swap_ranges(panel.s + j * panel.lds, panel.s + j * panel.lds + panel.width, panel.s + pivot * panel.lds);
    }
    const T divisor = panel.a[j * panel.lda + j];
    if (divisor == 0 && singular < 0) singular = j;
    T* const u = panel.a + j * panel.lda;
    for (Index c = j + 1; c < first + width; ++c) u[c] -= panel.s[j * panel.lds + c];
    for (Index r = j + 1; r < panel.rows; ++r) {
      T* const a = panel.a + r * panel.lda;
      T* const s = panel.s + r * panel.lds;
      if (divisor != 0) a[j] /= divisor;
      for (Index c = j + 1; c < first + width; ++c) s[c] = std::fma(a[j], u[c], s[c]);
    }
  }
  return singular;
}

TESSERA_WIDE_CLONES Index factor_group(const LuPanel<float>& panel, Index first, Index width, Index* pivots) {
  return factor_columns(panel, first, width, pivots);
}
TESSERA_WIDE_CLONES Index factor_group(const LuPanel<double>& panel, Index first, Index width, Index* pivots) {
  return factor_columns(panel, first, width, pivots);
}

template <class T>
[[gnu::always_inline]] inline Index factor_symmetric(Index size, T* a, Index lda, T* s, Index lds) {
  T column[panel_width];
  for (Index j = 0; j < size; ++j) {
    const T below_root = a[j * lda + j] - s[j * lds + j];
    if (!(below_root > 0)) return j;
    const T root = std::sqrt(below_root);
    a[j * lda + j] = root;
    for (Index i = j + 1; i < size; ++i) {
      a[i * lda + j] = (a[i * lda + j] - s[i * lds + j]) / root;
      column[i] = a[i * lda + j];
    }
    for (Index i = j + 1; i < size; ++i)
      for (Index c = j + 1; c <= i; ++c) s[i * lds + c] = std::fma(column[i], column[c], s[i * lds + c]);
  }
  return size;
}

TESSERA_WIDE_CLONES Index factor_block(Index size, float* a, Index lda, float* s, Index lds) {
  return factor_symmetric(size, a, lda, s, lds);
}
TESSERA_WIDE_CLONES Index factor_block(Index size, double* a, Index lda, double* s, Index lds) {
  return factor_symmetric(size, a, lda, s, lds);
}

/// Solves for right-hand sides in strips of `lanes`: `load(from, l, i)` and `store(to, l, i)` name element i of
/// right-hand side l of a strip.
template <class T, class Place>
void solve_strips(const TriangleBlock<T>& triangle, Index count, T* x, const T* s, const Place& place_x,
                  const Place& place_s) {
  alignas(64) T values[panel_width * lanes<T>];
  alignas(64) T sums[panel_width * lanes<T>];
  for (Index first = 0; first < count; first += lanes<T>) {
    const Index here = std::min(lanes<T>, count - first);
    for (Index i = 0; i < triangle.size; ++i) {
      for (Index l = 0; l < here; ++l) {
        values[i * lanes<T> + l] = x[place_x(first + l, i)];
        sums[i * lanes<T> + l] = s[place_s(first + l, i)];
      }
      std::fill(values + i * lanes<T> + here, values + (i + 1) * lanes<T>, T(0));
      std::fill(sums + i * lanes<T> + here, sums + (i + 1) * lanes<T>, T(0));
    }
    substitute_forward(triangle, values, sums);
    for (Index i = 0; i < triangle.size; ++i)
      for (Index l = 0; l < here; ++l) x[place_x(first + l, i)] = values[i * lanes<T> + l];
  }
}

/// Where element i of right-hand side l lies.
struct Place {
  Index of_side, of_element; ///< strides
  Index operator()(Index side, Index element) const { return side * of_side + element * of_element; }
};

} // namespace

template <class T>
void solve_columns(const TriangleBlock<T>& triangle, Index count, T* x, Index ldx, const T* s, Index lds) {
  solve_strips(triangle, count, x, s, Place{1, ldx}, Place{1, lds});
}

template <class T>
void solve_rows(const TriangleBlock<T>& triangle, Index count, T* x, Index ldx, const T* s, Index lds) {
  solve_strips(triangle, count, x, s, Place{ldx, 1}, Place{lds, 1});
}

template <class T>
Index factor_positive(Index size, T* a, Index lda, T* s, Index lds) {
  return factor_block(size, a, lda, s, lds);
}

template <class T>
Index factor_panel(const LuPanel<T>& panel, Index* pivots) {
  Index singular = -1;
  for (Index first = 0; first < panel.width; first += group) {
    const Index width = std::min(group, panel.width - first);
    bring_group(panel, first, width);
    const Index found = factor_group(panel, first, width, pivots);
    if (singular < 0) singular = found;
  }
  return singular;
}

template void solve_columns(const TriangleBlock<float>&, Index, float*, Index, const float*, Index);
template void solve_columns(const TriangleBlock<double>&, Index, double*, Index, const double*, Index);
template void solve_rows(const TriangleBlock<float>&, Index, float*, Index, const float*, Index);
template void solve_rows(const TriangleBlock<double>&, Index, double*, Index, const double*, Index);
template Index factor_positive(Index, float*, Index, float*, Index);
template Index factor_positive(Index, double*, Index, double*, Index);
template Index factor_panel(const LuPanel<float>&, Index*);
template Index factor_panel(const LuPanel<double>&, Index*);

} // namespace tessera::linear_algebra
