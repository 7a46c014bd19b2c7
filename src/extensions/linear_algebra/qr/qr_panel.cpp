#include "qr_panel.hpp"

#include <algorithm>
#include <cmath>

#include "reference/fma_clones.hpp"
#include "reflection.hpp"

namespace tessera::linear_algebra {
namespace {

/// The columns whose sums with a group go side by side: enough chains to hide latency, and no more than registers.
template <class T>
constexpr Index columns_at_once = (sizeof(Part<T>) == 4 ? 8 : 6) / Number<T>::parts;

/// Factors the columns of a group, to which all reflections before it have been applied.
template <class T>
[[gnu::always_inline]] inline void reflect_columns(const ReflectionPanel<T>& panel, Index first, Index end,
                                                   SmallMatrix<T>& r, T* tau) {
  const Index ld = panel.ld;
  for (Index j = first; j < end; ++j) {
    Part<T>* const column = panel.column(j);
    tau[j] = find_reflection(column + j, ld, panel.rows - j, r.at(j, j));
    for (Index i = 0; i < j; ++i) {
      if constexpr (is_complex<T>)
        r.at(j, i) = {column[i], column[ld + i]};
      else
        r.at(j, i) = column[i];
      for (Index p = 0; p < Number<T>::parts; ++p) column[p * ld + i] = 0;
    }
    for (Index c = j + 1; tau[j] != T(0) && c < end; ++c)
      reflect(column + j, ld, tau[j], panel.column(c) + j, panel.rows - j);
  }
}

/// sums[c][l] = Σ column(c)(r)·v(r, l) for some columns, where v is conjugated; `v` has a group by rows.
template <Index count, class T>
[[gnu::always_inline]] inline void sum_columns(Index rows, [[maybe_unused]] Index ld, const Part<T>* __restrict v,
                                               const Part<T>* const* columns, T (*__restrict sums)[reflection_group]) {
  constexpr Index parts = Number<T>::parts;
  for (Index first = 0; first < rows; first += segment_length<T>) {
    const Index end = std::min(rows, first + segment_length<T>);
    Part<T> chain[count][parts][reflection_group] = {};
    for (Index r = first; r < end; ++r) {
      const Part<T>* const row = v + r * parts * reflection_group;
#pragma GCC unroll 8
      for (Index c = 0; c < count; ++c) {
        const Part<T> re = columns[c][r];
        if constexpr (is_complex<T>) {
          const Part<T> im = columns[c][ld + r];
          for (Index l = 0; l < reflection_group; ++l) {
            const Part<T> v_re = row[l], v_im = row[reflection_group + l];
            chain[c][0][l] = std::fma(im, v_im, std::fma(re, v_re, chain[c][0][l]));
            chain[c][1][l] = std::fma(im, v_re, std::fma(re, -v_im, chain[c][1][l]));
          }
        } else {
          for (Index l = 0; l < reflection_group; ++l) chain[c][0][l] = std::fma(row[l], re, chain[c][0][l]);
        }
      }
    }
    for (Index c = 0; c < count; ++c)
      for (Index l = 0; l < reflection_group; ++l) {
        T segment;
        if constexpr (is_complex<T>)
          segment = {chain[c][0][l], chain[c][1][l]};
        else
          segment = chain[c][0][l];
        sums[c][l] = first == 0 ? segment : sums[c][l] + segment;
      }
  }
}

/// Computes the sums of all columns of the panel with the group that begins at column `first`.
template <class T>
[[gnu::always_inline]] inline void sum_panel(const ReflectionPanel<T>& panel, Index first, Index width,
                                             T (*sums)[reflection_group]) {
  constexpr Index parts = Number<T>::parts;
  for (Index r = 0; r < panel.rows; ++r)
    for (Index p = 0; p < parts; ++p)
      for (Index l = 0; l < reflection_group; ++l)
        panel.by_rows[(r * parts + p) * reflection_group + l] =
            l < width ? panel.column(first + l)[p * panel.ld + r] : Part<T>(0);
  constexpr Index several = columns_at_once<T>;
  const Part<T>* columns[several];
  for (Index c = 0; c < panel.width; c += several) {
    const Index count = std::min(several, panel.width - c);
    for (Index i = 0; i < several; ++i) columns[i] = panel.column(c + std::min(i, count - 1));
    T found[several][reflection_group];
    sum_columns<several, T>(panel.rows, panel.ld, panel.by_rows, columns, found);
    for (Index i = 0; i < count; ++i) std::copy(found[i], found[i] + reflection_group, sums[c + i]);
  }
}

/// Applies a group's reflections to the columns after it, of which `sums` has V's products with them.
template <class T>
[[gnu::always_inline]] inline void reflect_rest(const ReflectionPanel<T>& panel, Index first, const SmallMatrix<T>& t,
                                                T (*sums)[reflection_group]) {
  constexpr Index strip = reflection_padding<T>, parts = Number<T>::parts;
  const Index after = first + reflection_group, ld = panel.ld;
  for (Index c = after; c < panel.width; ++c) {
    T w[reflection_group] = {};
    for (Index k = 0; k < reflection_group; ++k)
      for (Index l = 0; l < reflection_group; ++l)
        w[l] = multiply_add(sums[c][k], conjugated_if(true, t.at(first + k, first + l)), w[l]);
    std::copy(w, w + reflection_group, sums[c]);
  }
  for (Index r = first; r < panel.rows; r += strip)
    for (Index c = after; c < panel.width; ++c) {
      Part<T> chain[parts][strip] = {};
      for (Index k = 0; k < reflection_group; ++k) {
        const Part<T>* const v = panel.column(first + k) + r;
        if constexpr (is_complex<T>) {
          const Part<T> re = sums[c][k].real(), im = sums[c][k].imag();
          for (Index l = 0; l < strip; ++l) {
            chain[0][l] = std::fma(im, -v[ld + l], std::fma(re, v[l], chain[0][l]));
            chain[1][l] = std::fma(im, v[l], std::fma(re, v[ld + l], chain[1][l]));
          }
        } else {
          for (Index l = 0; l < strip; ++l) chain[0][l] = std::fma(v[l], sums[c][k], chain[0][l]);
        }
      }
      Part<T>* const to = panel.column(c) + r;
      for (Index p = 0; p < parts; ++p)
        for (Index l = 0; l < strip; ++l) to[p * ld + l] -= chain[p][l];
    }
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
      for (Index r = 0; r <= k; ++r)
        chain[r] = multiply_add(by_columns[k][r], conjugated_if(true, g.at(i, k)), chain[r]);
    for (Index r = 0; r < i; ++r) by_columns[i][r] = scaled(-tau[i], chain[r]);
    by_columns[i][i] = tau[i];
    for (Index r = 0; r <= i; ++r) t.at(r, i) = by_columns[i][r];
  }
}

// Functions for each type, because templates have no clones. A group of floats fills the vectors of processors with
// FMA.
#define TESSERA_REFLECTIONS(T, SUM_CLONES)                                                                            \
  TESSERA_WIDE_CLONES void factor_reflection_group(const ReflectionPanel<T>& panel, Index first, Index end,           \
                                                   SmallMatrix<T>& r, T* tau) {                                       \
    reflect_columns(panel, first, end, r, tau);                                                                       \
  }                                                                                                                   \
  SUM_CLONES void group_sums(const ReflectionPanel<T>& panel, Index first, Index width, T(*sums)[reflection_group]) { \
    sum_panel(panel, first, width, sums);                                                                             \
  }                                                                                                                   \
  TESSERA_WIDE_CLONES void update_rest(const ReflectionPanel<T>& panel, Index first, const SmallMatrix<T>& t,         \
                                       T(*sums)[reflection_group]) {                                                  \
    reflect_rest(panel, first, t, sums);                                                                              \
  }                                                                                                                   \
  TESSERA_WIDE_CLONES void columns_of_triangle(Index first, Index end, const SmallMatrix<T>& g, const T* tau,         \
                                               SmallMatrix<T>& t) {                                                   \
    extend_triangle(first, end, g, tau, t);                                                                           \
  }
TESSERA_REFLECTIONS(float, TESSERA_FMA_CLONES)
TESSERA_REFLECTIONS(double, TESSERA_WIDE_CLONES)
TESSERA_REFLECTIONS(std::complex<float>, TESSERA_FMA_CLONES)
TESSERA_REFLECTIONS(std::complex<double>, TESSERA_WIDE_CLONES)
#undef TESSERA_REFLECTIONS

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

#define TESSERA_INSTANTIATE(T)                                                                       \
  template void factor_reflections(const ReflectionPanel<T>&, SmallMatrix<T>&, T*, SmallMatrix<T>&); \
  template void make_triangle(Index, const SmallMatrix<T>&, const T*, SmallMatrix<T>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
