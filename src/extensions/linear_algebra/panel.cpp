#include "panel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// The rows that are taken at once: enough vectors to hide the latency of a chain's multiply-adds.
template <class T>
constexpr Index lanes = Index{256} / static_cast<Index>(sizeof(T));

/// Columns of an LU panel that are factored before the ones after them hear of it.
constexpr Index group = 8;

/// Continues the sums of a column, in the rows from `first` on, by l(r, k)·u(k) for `steps` columns of L, which `l`
/// begins with. Rows are taken `lanes` at a time, so that their chains lie side by side in vectors.
template <class T>
[[gnu::always_inline]] inline void continue_sums(const LuPanel<T>& panel, Index first, Index steps, const T* l,
                                                 const T* __restrict u, T* __restrict s) {
  constexpr Index count = lanes<T>;
  static_assert(count <= panel_padding<T>);
  for (Index r = first; r < panel.rows; r += count) {
    T sum[count];
    for (Index i = 0; i < count; ++i) sum[i] = s[r + i];
    for (Index k = 0; k < steps; ++k)
      for (Index i = 0; i < count; ++i) sum[i] = std::fma(l[k * panel.lda + r + i], u[k], sum[i]);
    for (Index i = 0; i < count; ++i) s[r + i] = sum[i];
  }
}

/// Makes U of a group's rows in a column, each row after the ones above it. `l` is the group's triangle.
template <class T>
[[gnu::always_inline]] inline void finish_rows(Index width, const T* l, Index ldl, T* a, const T* s) {
  T sum[group];
  for (Index r = 0; r < width; ++r) sum[r] = s[r];
  for (Index k = 0; k < width; ++k) {
    a[k] -= sum[k];
    for (Index r = k + 1; r < width; ++r) sum[r] = std::fma(l[k * ldl + r], a[k], sum[r]);
  }
}

/// Tells the columns after a group of it: the group's rows become U, and below them the sums go on.
template <class T>
[[gnu::always_inline]] inline void update_columns(const LuPanel<T>& panel, Index first, Index width) {
  const T* const l = panel.a + first * panel.lda;
  for (Index c = first + width; c < panel.width; ++c) {
    T* const a = panel.a + c * panel.lda + first;
    T* const s = panel.s + c * panel.lds;
    if (width == group) // which unrolls all loops
      finish_rows(group, l + first, panel.lda, a, s + first);
    else
      finish_rows(width, l + first, panel.lda, a, s + first);
    continue_sums(panel, first + width, width, l, a, s);
  }
}

TESSERA_WIDE_CLONES void update_after(const LuPanel<float>& panel, Index first, Index width) {
  update_columns(panel, first, width);
}
TESSERA_WIDE_CLONES void update_after(const LuPanel<double>& panel, Index first, Index width) {
  update_columns(panel, first, width);
}

/// The order of pivots as integers: by magnitude, and every NaN above Inf.
template <class T>
using Key = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
template <class T>
[[gnu::always_inline]] inline Key<T> key_of(T value) {
  constexpr auto above_all = std::bit_cast<Key<T>>(std::numeric_limits<T>::infinity()) + 1;
  return std::min(std::bit_cast<Key<T>>(value) & std::numeric_limits<Key<T>>::max(), above_all);
}

/// Takes the sums off a column, from row `first` on, and returns the row of its pivot.
template <class T>
[[gnu::always_inline]] inline Index subtract_and_find_pivot(T* __restrict a, const T* __restrict s, Index first,
                                                            Index rows) {
  constexpr Index strip = 64;
  Key<T> largest = -1;
  Index place = first;
  for (Index begin = first; begin < rows; begin += strip) {
    const Index end = std::min(rows, begin + strip);
    Key<T> here = -1;
    for (Index r = begin; r < end; ++r) {
      a[r] -= s[r];
      here = std::max(here, key_of(a[r]));
    }
    if (here > largest) {
      largest = here;
      place = begin;
    }
  }
  while (key_of(a[place]) != largest) ++place;
  return place;
}

/// s(r) goes on with l(r)·u.
template <class T>
[[gnu::always_inline]] inline void extend(const T* __restrict l, T u, T* __restrict s, Index first, Index rows) {
  for (Index r = first; r < rows; ++r) s[r] = std::fma(l[r], u, s[r]);
}

/// Factors the columns first … first + width − 1, whose sums hold all terms before `first`.
template <class T>
[[gnu::always_inline]] inline Index factor_columns(const LuPanel<T>& panel, Index first, Index width, Index* pivots) {
  Index singular = -1;
  for (Index j = first; j < first + width; ++j) {
    T* const column = panel.a + j * panel.lda;
    const Index pivot = subtract_and_find_pivot(column, panel.s + j * panel.lds, j, panel.rows);
    pivots[j] = pivot;
    for (Index c = 0; pivot != j && c < panel.width; ++c) {
      std::swap(panel.a[c * panel.lda + j], panel.a[c * panel.lda + pivot]);
      std::swap(panel.s[c * panel.lds + j], panel.s[c * panel.lds + pivot]);
    }
    const T divisor = column[j];
    if (divisor == 0 && singular < 0) singular = j;
    for (Index r = j + 1; divisor != 0 && r < panel.rows; ++r) column[r] /= divisor;
    for (Index c = j + 1; c < first + width; ++c) {
      T& u = panel.a[c * panel.lda + j];
      u -= panel.s[c * panel.lds + j];
      extend(column, u, panel.s + c * panel.lds, j + 1, panel.rows);
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

} // namespace

template <class T>
Index factor_positive(Index size, T* a, Index lda, T* s, Index lds) {
  return factor_block(size, a, lda, s, lds);
}

template <class T>
Index factor_panel(const LuPanel<T>& panel, Index* pivots) {
  Index singular = -1;
  for (Index first = 0; first < panel.width; first += group) {
    const Index width = std::min(group, panel.width - first);
    const Index found = factor_group(panel, first, width, pivots);
    if (singular < 0) singular = found;
    update_after(panel, first, width);
  }
  return singular;
}

template Index factor_positive(Index, float*, Index, float*, Index);
template Index factor_positive(Index, double*, Index, double*, Index);
template Index factor_panel(const LuPanel<float>&, Index*);
template Index factor_panel(const LuPanel<double>&, Index*);

} // namespace tessera::linear_algebra
