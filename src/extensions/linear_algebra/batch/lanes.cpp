#include "lanes.hpp"

#include <cmath>
#include <utility>

#include "extensions/linear_algebra/pivot_key.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// Chains that are taken at once, to hide the latency of a multiply-add.
constexpr Index chains_at_once = 4;

/// What a term is: varied · shared, or shared · varied, and which of the two is conjugated.
struct TermOrder {
  bool shared_first = false, conjugate_varied = false, conjugate_shared = false;
};

/// In each lane, the chains of `rows` numbers go on with varied(r, k) and shared(k) for k = 0 … count − 1. Distances
/// count parts.
template <class T, Index rows, TermOrder order>
[[gnu::always_inline]] inline void extend_lane_chains(Index count, const Part<T>* __restrict varied, Index of_row,
                                                      Index of_k, const Part<T>* __restrict shared, Index shared_of_k,
                                                      Part<T>* __restrict sums) {
  constexpr Index lanes = lane_count<T>, parts = Number<T>::parts;
  Part<T> sum[rows * parts][lanes];
  for (Index r = 0; r < rows * parts; ++r)
    for (Index l = 0; l < lanes; ++l) sum[r][l] = sums[r * lanes + l];
  for (; count > 0; --count, varied += of_k, shared += shared_of_k)
    for (Index r = 0; r < rows; ++r) {
      const Part<T>* const x = varied + r * of_row;
      const Part<T>* const y = shared;
      if constexpr (is_complex<T>) {
        constexpr bool conjugate_a = order.shared_first ? order.conjugate_shared : order.conjugate_varied,
                       conjugate_b = order.shared_first ? order.conjugate_varied : order.conjugate_shared;
        const Part<T>* const a = order.shared_first ? y : x;
        const Part<T>* const b = order.shared_first ? x : y;
        Part<T>* const re = sum[2 * r];
        Part<T>* const im = sum[2 * r + 1];
#pragma GCC unroll 1 // else the compiler takes the lanes apart before it makes vectors of them
        for (Index l = 0; l < lanes; ++l) {
          const Part<T> a_im = conjugate_a ? -a[lanes + l] : a[lanes + l],
                        b_im = conjugate_b ? -b[lanes + l] : b[lanes + l];
          re[l] = std::fma(a_im, -b_im, std::fma(a[l], b[l], re[l]));
          im[l] = std::fma(a_im, b[l], std::fma(a[l], b_im, im[l]));
        }
      } else {
#pragma GCC unroll 1
        for (Index l = 0; l < lanes; ++l) sum[r][l] = std::fma(x[l], y[l], sum[r][l]);
      }
    }
  for (Index r = 0; r < rows * parts; ++r)
    for (Index l = 0; l < lanes; ++l) sums[r * lanes + l] = sum[r][l];
}

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

/// Divides by the number of each lane.
template <class T>
struct LaneDivisor {
  [[gnu::always_inline]] void set(const Part<T>* d) {
    for (Index l = 0; l < lane_count<T>; ++l) real[l] = d[l];
  }
  /// Divides by 1 in the lanes whose number is 0.
  [[gnu::always_inline]] void spare_zeros() {
    for (Index l = 0; l < lane_count<T>; ++l) real[l] = real[l] == 0 ? Part<T>(1) : real[l];
  }
  [[gnu::always_inline]] void divide(Part<T>* x) const {
    for (Index l = 0; l < lane_count<T>; ++l) x[l] /= real[l];
  }

  alignas(64) Part<T> real[lane_count<T>];
};
template <class T>
struct LaneDivisor<std::complex<T>> {
  static constexpr Index lanes = lane_count<std::complex<T>>;

  [[gnu::always_inline]] void set(const T* d) {
    all_real = true;
    for (Index l = 0; l < lanes; ++l) {
      const Divisor<std::complex<T>> one({d[l], d[lanes + l]});
      is_real[l] = one.is_real;
      all_real = all_real && one.is_real;
      real[l] = one.is_real ? d[l] : T(1);
      scale[l] = one.scale;
      inverse_re[l] = one.inverse_re;
      inverse_im[l] = one.inverse_im;
    }
  }
  [[gnu::always_inline]] void spare_zeros() {
    for (Index l = 0; l < lanes; ++l) real[l] = is_real[l] != 0 && real[l] == 0 ? T(1) : real[l];
  }
  [[gnu::always_inline]] void divide(T* x) const {
    T re[lanes], im[lanes];
    for (Index l = 0; l < lanes; ++l) {
      re[l] = x[l] / real[l];
      im[l] = x[lanes + l] / real[l];
    }
    for (Index l = 0; l < lanes && !all_real; ++l) {
      const T a = scale[l] * x[l], b = scale[l] * x[lanes + l];
      const T quotient_re = std::fma(a, inverse_re[l], -(b * inverse_im[l])),
              quotient_im = std::fma(a, inverse_im[l], b * inverse_re[l]);
      re[l] = is_real[l] != 0 ? re[l] : quotient_re;
      im[l] = is_real[l] != 0 ? im[l] : quotient_im;
    }
    for (Index l = 0; l < lanes; ++l) {
      x[l] = re[l];
      x[lanes + l] = im[l];
    }
  }

  bool all_real = true;
  alignas(64) Key<T> is_real[lanes];
  alignas(64) T real[lanes], scale[lanes], inverse_re[lanes], inverse_im[lanes];
};

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

template <class T, bool conjugate>
[[gnu::always_inline]] inline void solve_by_lanes(const LaneTriangle<T>& triangle, Index columns, const Lanes<T>& x) {
  constexpr Index lanes = lane_count<T>, step = lane_step<T>;
  constexpr TermOrder order{.conjugate_varied = conjugate};
  const Lanes<T>& t = triangle.t;
  const Index of_row = t.of_row * step, of_column = t.of_column * step, x_of_row = x.of_row * step;
  for (Index first = 0; first < triangle.size; first += chains_at_once) {
    const Index rows = std::min(chains_at_once, triangle.size - first);
    LaneDivisor<T> divisors[chains_at_once];
    for (Index r = 0; r < rows && !triangle.has_unit_diagonal; ++r) {
      alignas(64) Part<T> diagonal[step];
      const Part<T>* const given = t.at(first + r, first + r);
      for (Index l = 0; l < step; ++l) diagonal[l] = conjugate && l >= lanes ? -given[l] : given[l];
      divisors[r].set(diagonal);
    }
    for (Index c = 0; c < columns; ++c) {
      alignas(64) Part<T> sums[chains_at_once * step] = {};
      const Part<T>* const above = x.at(0, c);
      if (rows == chains_at_once) {
        extend_lane_chains<T, chains_at_once, order>(first, t.at(first, 0), of_row, of_column, above, x_of_row, sums);
      } else {
        for (Index r = 0; r < rows; ++r)
          extend_lane_chains<T, 1, order>(first, t.at(first + r, 0), of_row, of_column, above, x_of_row,
                                          sums + r * step);
      }
      for (Index r = 0; r < rows; ++r) {
        extend_lane_chains<T, 1, order>(r, t.at(first + r, first), of_row, of_column, x.at(first, c), x_of_row,
                                        sums + r * step);
        Part<T>* __restrict const to = x.at(first + r, c);
        for (Index l = 0; l < step; ++l) to[l] -= sums[r * step + l];
        if (!triangle.has_unit_diagonal) divisors[r].divide(to);
      }
    }
  }
}

// A function for each type, because templates have no clones.
#define TESSERA_LANES(T)                                                                                        \
  TESSERA_WIDE_CLONES void factor_all(Index m, Index n, const Lanes<T>& a, std::int32_t* pivots, Index* info) { \
    factor_by_lanes(m, n, a, pivots, info);                                                                     \
  }                                                                                                             \
  TESSERA_WIDE_CLONES void factor_all_positive(Index n, const Lanes<T>& a, Index* info) {                       \
    factor_positive_by_lanes(n, a, info);                                                                       \
  }                                                                                                             \
  TESSERA_WIDE_CLONES void solve_all(const LaneTriangle<T>& triangle, Index columns, const Lanes<T>& x) {       \
    triangle.conjugate ? solve_by_lanes<T, is_complex<T>>(triangle, columns, x)                                 \
                       : solve_by_lanes<T, false>(triangle, columns, x);                                        \
  }
TESSERA_LANES(float)
TESSERA_LANES(double)
TESSERA_LANES(std::complex<float>)
TESSERA_LANES(std::complex<double>)
#undef TESSERA_LANES

} // namespace

template <class T>
void factor_lanes(Index m, Index n, const Lanes<T>& a, std::int32_t* pivots, Index* info) {
  factor_all(m, n, a, pivots, info);
}
template <class T>
void factor_positive_lanes(Index n, const Lanes<T>& a, Index* info) {
  factor_all_positive(n, a, info);
}
template <class T>
void solve_lanes(const LaneTriangle<T>& triangle, Index columns, const Lanes<T>& x) {
  solve_all(triangle, columns, x);
}

#define TESSERA_INSTANTIATE(T)                                                      \
  template void factor_lanes(Index, Index, const Lanes<T>&, std::int32_t*, Index*); \
  template void factor_positive_lanes(Index, const Lanes<T>&, Index*);              \
  template void solve_lanes(const LaneTriangle<T>&, Index, const Lanes<T>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
