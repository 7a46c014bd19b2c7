/// LU and Cholesky's factors in lanes, in Crout's order: a column, its pivots, a row.

#include <algorithm>
#include <cmath>

#include "lane_chains.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// Takes the sum of varied(r, k) and shared(k), k = 0 … count − 1, off each of the numbers a(r), r = 0 … rows − 1.
template <class T, TermOrder order>
[[gnu::always_inline]] inline void subtract_lane_sums(Index rows, Part<T>* a, Index a_of_row, Index count,
                                                      const Part<T>* varied, Index of_row, Index of_k,
                                                      const Part<T>* shared, Index shared_of_k) {
  constexpr Index step = lane_step<T>;
  alignas(64) Part<T> sums[chains_at_once * step];
  for (Index r = 0; r < rows;) {
    const Index here = rows - r < chains_at_once ? 1 : chains_at_once;
    for (Part<T>& x : sums) x = 0;
    if (here == chains_at_once)
      extend_lane_chains<T, chains_at_once, order>(count, varied + r * of_row, of_row, of_k, shared, shared_of_k, sums);
    else
      extend_lane_chains<T, 1, order>(count, varied + r * of_row, of_row, of_k, shared, shared_of_k, sums);
    for (Index i = 0; i < here; ++i, ++r) {
      Part<T>* __restrict const to = a + r * a_of_row;
      for (Index l = 0; l < step; ++l) to[l] -= sums[i * step + l];
    }
  }
}

/// Finds the pivots of a column, from row j on.
template <class T>
[[gnu::always_inline]] inline void find_lane_pivots(Index m, Index j, const Lanes<T>& a, Key<Part<T>>* pivots) {
  constexpr Index lanes = lane_count<T>;
  alignas(64) Key<Part<T>> largest[lanes], place[lanes];
  const Part<T>* const diagonal = a.at(j, j);
#pragma GCC unroll 1
  for (Index l = 0; l < lanes; ++l) {
    largest[l] = key_at<T>(diagonal + l, lanes);
    place[l] = static_cast<Key<Part<T>>>(j);
  }
  for (Index i = j + 1; i < m; ++i) {
    const Part<T>* __restrict const x = a.at(i, j);
#pragma GCC unroll 1
    for (Index l = 0; l < lanes; ++l) {
      const Key<Part<T>> key = key_at<T>(x + l, lanes);
      place[l] = key > largest[l] ? static_cast<Key<Part<T>>>(i) : place[l];
      largest[l] = std::max(largest[l], key);
    }
  }
  for (Index l = 0; l < lanes; ++l) pivots[l] = place[l];
}

/// Exchanges row j with each lane's pivot row. There is no branch, because no processor foresees pivots.
template <class T>
[[gnu::always_inline]] inline void exchange_lane_rows(Index n, Index j, const Lanes<T>& a, const Key<Part<T>>* pivots) {
  constexpr Index lanes = lane_count<T>;
  Index distances[lanes];
  for (Index l = 0; l < lanes; ++l) distances[l] = (Index{pivots[l]} - j) * a.of_row * lane_step<T> + l;
  for (Index c = 0; c < n; ++c)
    for (Index p = 0; p < Number<T>::parts; ++p) {
      Part<T>* const row = a.at(j, c) + p * lanes;
      Part<T> found[lanes];
      for (Index l = 0; l < lanes; ++l) found[l] = row[distances[l]];
      for (Index l = 0; l < lanes; ++l) row[distances[l]] = row[l];
      for (Index l = 0; l < lanes; ++l) row[l] = found[l];
    }
}

/// Notes the lanes whose pivot j is their first one that is 0.
template <class T>
[[gnu::always_inline]] inline void note_zeros(const Part<T>* pivot, Index j, Index* info) {
  constexpr Index lanes = lane_count<T>;
  Key<Part<T>> zeros[lanes], any = 0;
  for (Index l = 0; l < lanes; ++l) zeros[l] = pivot[l] == 0 && pivot[lane_step<T> - lanes + l] == 0 ? 1 : 0;
  for (Index l = 0; l < lanes; ++l) any |= zeros[l];
  for (Index l = 0; l < lanes && any != 0; ++l)
    if (zeros[l] != 0 && info[l] == 0) info[l] = j + 1;
}

template <class T>
[[gnu::always_inline]] inline void factor_by_lanes(Index m, Index n, const Lanes<T>& a, std::int32_t* pivots,
                                                   Index* info) {
  constexpr Index lanes = lane_count<T>, step = lane_step<T>;
  const Index of_row = a.of_row * step, of_column = a.of_column * step;
  for (Index l = 0; l < lanes; ++l) info[l] = 0;
  for (Index j = 0; j < std::min(m, n); ++j, pivots += lanes) {
    subtract_lane_sums<T, TermOrder{}>(m - j, a.at(j, j), of_row, j, a.at(j, 0), of_row, of_column, a.at(0, j), of_row);
    alignas(64) Key<Part<T>> rows[lanes];
    find_lane_pivots(m, j, a, rows);
    exchange_lane_rows(n, j, a, rows);
    for (Index l = 0; l < lanes; ++l) pivots[l] = static_cast<std::int32_t>(rows[l]);
    const Part<T>* const pivot = a.at(j, j);
    note_zeros<T>(pivot, j, info);
    LaneDivisor<T> divisor;
    divisor.set(pivot);
    divisor.spare_zeros();
    for (Index i = j + 1; i < m; ++i) divisor.divide(a.at(i, j));
    subtract_lane_sums<T, TermOrder{.shared_first = true}>(n - j - 1, a.at(j, j + 1), of_column, j, a.at(0, j + 1),
                                                           of_column, of_row, a.at(j, 0), of_column);
  }
}

template <class T>
[[gnu::always_inline]] inline void factor_positive_by_lanes(Index n, const Lanes<T>& a, Index* info) {
  constexpr Index lanes = lane_count<T>, step = lane_step<T>;
  const Index of_row = a.of_row * step, of_column = a.of_column * step;
  for (Index l = 0; l < lanes; ++l) info[l] = 0;
  for (Index j = 0; j < n; ++j) {
    subtract_lane_sums<T, TermOrder{.conjugate_shared = true}>(n - j, a.at(j, j), of_row, j, a.at(j, 0), of_row,
                                                               of_column, a.at(j, 0), of_column);
    Part<T>* const diagonal = a.at(j, j);
    Part<T> root[lanes];
    for (Index l = 0; l < lanes; ++l) {
      const bool is_positive = diagonal[l] > 0;
      if (!is_positive && info[l] == 0) info[l] = j + 1;
      root[l] = std::sqrt(is_positive ? diagonal[l] : Part<T>(1));
    }
    for (Index l = 0; l < lanes; ++l) {
      diagonal[l] = root[l];
      if constexpr (is_complex<T>) diagonal[lanes + l] = 0;
    }
    for (Index i = j + 1; i < n; ++i)
      for (Index p = 0; p < Number<T>::parts; ++p)
        for (Index l = 0; l < lanes; ++l) a.at(i, j)[p * lanes + l] /= root[l];
  }
}

// A function for each type, because templates have no clones.
#define TESSERA_FACTORS(T)                                                                                      \
  TESSERA_WIDE_CLONES void factor_all(Index m, Index n, const Lanes<T>& a, std::int32_t* pivots, Index* info) { \
    factor_by_lanes(m, n, a, pivots, info);                                                                     \
  }                                                                                                             \
  TESSERA_WIDE_CLONES void factor_all_positive(Index n, const Lanes<T>& a, Index* info) {                       \
    factor_positive_by_lanes(n, a, info);                                                                       \
  }
TESSERA_FACTORS(float)
TESSERA_FACTORS(double)
TESSERA_FACTORS(std::complex<float>)
TESSERA_FACTORS(std::complex<double>)
#undef TESSERA_FACTORS

} // namespace

template <class T>
void factor_lanes(Index m, Index n, const Lanes<T>& a, std::int32_t* pivots, Index* info) {
  factor_all(m, n, a, pivots, info);
}
template <class T>
void factor_positive_lanes(Index n, const Lanes<T>& a, Index* info) {
  factor_all_positive(n, a, info);
}

#define TESSERA_INSTANTIATE(T)                                                      \
  template void factor_lanes(Index, Index, const Lanes<T>&, std::int32_t*, Index*); \
  template void factor_positive_lanes(Index, const Lanes<T>&, Index*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
