#include "panel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pivot_key.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// The rows that are taken at once: enough vectors to hide the latency of a chain's multiply-adds.
template <class T>
constexpr Index lanes = Index{256} / static_cast<Index>(sizeof(T));

/// Columns of an LU panel that are factored before the ones after them hear of it.
constexpr Index group = 8;

/// The sums of `count` rows go on with l(r)·u. The parts of l lie `ld` apart, and the imaginary parts of the sums begin
/// at place `im`.
template <class T>
[[gnu::always_inline]] inline void extend_rows(Index count, const Part<T>* __restrict l, Index ld, T u,
                                               Part<T>* __restrict sum, [[maybe_unused]] Index im) {
  if constexpr (is_complex<T>) {
    const Part<T> u_re = u.real(), u_im = u.imag();
    for (Index i = 0; i < count; ++i) {
      sum[i] = std::fma(l[ld + i], -u_im, std::fma(l[i], u_re, sum[i]));
      sum[im + i] = std::fma(l[ld + i], u_re, std::fma(l[i], u_im, sum[im + i]));
    }
  } else {
    for (Index i = 0; i < count; ++i) sum[i] = std::fma(l[i], u, sum[i]);
  }
}

/// Returns the number whose parts lie `ld` apart.
template <class T>
[[gnu::always_inline]] inline T number_at(const Part<T>* x, Index ld) {
  if constexpr (is_complex<T>)
    return {x[0], x[ld]};
  else
    return *x;
}
template <class T>
[[gnu::always_inline]] inline void subtract_parts(Part<T>* x, const Part<T>* s, Index ld) {
  for (Index p = 0; p < Number<T>::parts; ++p) x[p * ld] -= s[p * ld];
}

/// Continues the sums of a column, in the rows from `first` on, by l(r, k)·u(k) for `steps` columns of L, which `l`
/// begins with. Rows are taken `lanes` at a time, so that their chains lie side by side in vectors.
template <class T>
[[gnu::always_inline]] inline void continue_sums(const LuPanel<T>& panel, Index first, Index steps, const Part<T>* l,
                                                 const Part<T>* __restrict u, Part<T>* __restrict s) {
  constexpr Index count = lanes<T>, parts = Number<T>::parts;
  static_assert(count <= panel_padding<T>);
  for (Index r = first; r < panel.rows; r += count) {
    Part<T> sum[count * parts];
    for (Index p = 0; p < parts; ++p)
      for (Index i = 0; i < count; ++i) sum[p * count + i] = s[p * panel.ld + r + i];
    for (Index k = 0; k < steps; ++k)
      extend_rows<T>(count, l + k * parts * panel.ld + r, panel.ld, number_at<T>(u + k, panel.ld), sum, count);
    for (Index p = 0; p < parts; ++p)
      for (Index i = 0; i < count; ++i) s[p * panel.ld + r + i] = sum[p * count + i];
  }
}

/// Makes U of a group's rows in a column, each row after the ones above it. `l` is the group's triangle.
template <class T>
[[gnu::always_inline]] inline void finish_rows(Index width, const Part<T>* l, Index ld, Part<T>* a, const Part<T>* s) {
  constexpr Index parts = Number<T>::parts;
  Part<T> sum[group * parts];
  for (Index p = 0; p < parts; ++p)
    for (Index r = 0; r < width; ++r) sum[p * group + r] = s[p * ld + r];
  for (Index k = 0; k < width; ++k) {
    for (Index p = 0; p < parts; ++p) a[p * ld + k] -= sum[p * group + k];
    extend_rows<T>(width - k - 1, l + k * parts * ld + k + 1, ld, number_at<T>(a + k, ld), sum + k + 1, group);
  }
}

/// Tells the columns after a group of it: the group's rows become U, and below them the sums go on.
template <class T>
[[gnu::always_inline]] inline void update_columns(const LuPanel<T>& panel, Index first, Index width) {
  const Part<T>* const l = panel.column(first);
  for (Index c = first + width; c < panel.width; ++c) {
    Part<T>* const a = panel.column(c) + first;
    Part<T>* const s = panel.sums(c);
    if (width == group) // which unrolls all loops
      finish_rows<T>(group, l + first, panel.ld, a, s + first);
    else
      finish_rows<T>(width, l + first, panel.ld, a, s + first);
    continue_sums(panel, first + width, width, l, a, s);
  }
}

/// Takes the sums off a column, from row `first` on, and returns the row of its pivot.
template <class T>
[[gnu::always_inline]] inline Index subtract_and_find_pivot(Part<T>* __restrict a, const Part<T>* __restrict s,
                                                            Index first, Index rows, Index ld) {
  constexpr Index strip = 64;
  Key<Part<T>> largest = -1;
  Index place = first;
  for (Index begin = first; begin < rows; begin += strip) {
    const Index end = std::min(rows, begin + strip);
    Key<Part<T>> here = -1;
    for (Index r = begin; r < end; ++r) {
      subtract_parts<T>(a + r, s + r, ld);
      here = std::max(here, key_at<T>(a + r, ld));
    }
    if (here > largest) {
      largest = here;
      place = begin;
    }
  }
  while (key_at<T>(a + place, ld) != largest) ++place;
  return place;
}

/// Divides the rows from `first` on by a pivot.
template <class T>
[[gnu::always_inline]] inline void divide_rows(T pivot, Part<T>* __restrict a, Index ld, Index first, Index rows) {
  const Divisor<T> divisor(pivot);
  if constexpr (is_complex<T>) {
    Part<T>* const im = a + ld;
    if (!divisor.is_real) {
      for (Index r = first; r < rows; ++r) divisor.divide(a[r], im[r]);
      return;
    }
  }
  for (Index p = 0; p < Number<T>::parts; ++p)
    for (Index r = first; r < rows; ++r) a[p * ld + r] /= divisor.real;
}

/// Factors the columns first … first + width − 1, whose sums hold all terms before `first`.
template <class T>
[[gnu::always_inline]] inline Index factor_columns(const LuPanel<T>& panel, Index first, Index width, Index* pivots) {
  constexpr Index parts = Number<T>::parts;
  const Index ld = panel.ld;
  Index singular = -1;
  for (Index j = first; j < first + width; ++j) {
    Part<T>* const column = panel.column(j);
    const Index pivot = subtract_and_find_pivot<T>(column, panel.sums(j), j, panel.rows, ld);
    pivots[j] = pivot;
    for (Index c = 0; pivot != j && c < panel.width * parts; ++c) {
      std::swap(panel.a[c * ld + j], panel.a[c * ld + pivot]);
      std::swap(panel.s[c * ld + j], panel.s[c * ld + pivot]);
    }
    const T divisor = number_at<T>(column + j, ld);
    if (divisor != T(0))
      divide_rows(divisor, column, ld, j + 1, panel.rows);
    else if (singular < 0)
      singular = j;
    for (Index c = j + 1; c < first + width; ++c) {
      Part<T>* const u = panel.column(c) + j;
      Part<T>* const s = panel.sums(c);
      subtract_parts<T>(u, s + j, ld);
      extend_rows<T>(panel.rows - j - 1, column + j + 1, ld, number_at<T>(u, ld), s + j + 1, ld);
    }
  }
  return singular;
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

/// Of complex numbers, the sums' parts are taken to memory of their own, so that they lie side by side.
template <class T>
[[gnu::always_inline]] inline Index factor_hermitian(Index size, std::complex<T>* a, Index lda,
                                                     const std::complex<T>* s, Index lds) {
  alignas(64) T sum_re[panel_width * panel_width], sum_im[panel_width * panel_width];
  T re[panel_width], im[panel_width];
  for (Index i = 0; i < size; ++i)
    for (Index c = 0; c <= i; ++c) {
      sum_re[i * panel_width + c] = s[i * lds + c].real();
      sum_im[i * panel_width + c] = s[i * lds + c].imag();
    }
  for (Index j = 0; j < size; ++j) {
    const T below_root = a[j * lda + j].real() - sum_re[j * panel_width + j];
    if (!(below_root > 0)) return j;
    const T root = std::sqrt(below_root);
    a[j * lda + j] = root;
    for (Index i = j + 1; i < size; ++i) {
      std::complex<T>& l = a[i * lda + j];
      l = {(l.real() - sum_re[i * panel_width + j]) / root, (l.imag() - sum_im[i * panel_width + j]) / root};
      re[i] = l.real();
      im[i] = l.imag();
    }
    for (Index i = j + 1; i < size; ++i) {
      T* const to_re = sum_re + i * panel_width;
      T* const to_im = sum_im + i * panel_width;
      for (Index c = j + 1; c <= i; ++c) {
        to_re[c] = std::fma(im[i], im[c], std::fma(re[i], re[c], to_re[c]));
        to_im[c] = std::fma(im[i], re[c], std::fma(re[i], -im[c], to_im[c]));
      }
    }
  }
  return size;
}

// A function for each type, because templates have no clones.
#define TESSERA_PANELS(T, factor)                                                                            \
  TESSERA_WIDE_CLONES void update_after(const LuPanel<T>& panel, Index first, Index width) {                 \
    update_columns(panel, first, width);                                                                     \
  }                                                                                                          \
  TESSERA_WIDE_CLONES Index factor_group(const LuPanel<T>& panel, Index first, Index width, Index* pivots) { \
    return factor_columns(panel, first, width, pivots);                                                      \
  }                                                                                                          \
  TESSERA_WIDE_CLONES Index factor_block(Index size, T* a, Index lda, T* s, Index lds) {                     \
    return factor(size, a, lda, s, lds);                                                                     \
  }
TESSERA_PANELS(float, factor_symmetric)
TESSERA_PANELS(double, factor_symmetric)
TESSERA_PANELS(std::complex<float>, factor_hermitian)
TESSERA_PANELS(std::complex<double>, factor_hermitian)
#undef TESSERA_PANELS

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

#define TESSERA_INSTANTIATE(T)                                 \
  template Index factor_positive(Index, T*, Index, T*, Index); \
  template Index factor_panel(const LuPanel<T>&, Index*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
