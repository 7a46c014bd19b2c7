/// Triangular systems in lanes.

#include <algorithm>

#include "lane_chains.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// What is known of a triangle when its loops are compiled.
struct TriangleKind {
  bool conjugate, has_unit_diagonal;
};

/// Sets the divisor of row i.
template <class T, TriangleKind kind>
[[gnu::always_inline]] inline void set_divisor(const LaneTriangle<T>& triangle, Index i, LaneDivisor<T>& divisor) {
  constexpr Index lanes = lane_count<T>, step = lane_step<T>;
  if constexpr (kind.has_unit_diagonal) return;
  alignas(64) Part<T> diagonal[step];
  const Part<T>* const given = triangle.t.at(i, i);
  for (Index l = 0; l < step; ++l) diagonal[l] = kind.conjugate && l >= lanes ? -given[l] : given[l];
  divisor.set(diagonal);
}

/// Takes the sums off the numbers of one place in all lanes, and divides.
template <class T, TriangleKind kind>
[[gnu::always_inline]] inline void finish_numbers(const LaneDivisor<T>& divisor, const Part<T>* sums,
                                                  Part<T>* __restrict x) {
  for (Index l = 0; l < lane_step<T>; ++l) x[l] -= sums[l];
  if constexpr (!kind.has_unit_diagonal) divisor.divide(x);
}

/// Solves for whole tiles of columns, whose chains lie side by side.
template <class T, TriangleKind kind>
[[gnu::always_inline]] inline void solve_tiles(const LaneTriangle<T>& triangle, Index columns, const Lanes<T>& x) {
  constexpr Index step = lane_step<T>;
  constexpr TermOrder order{.shared_first = true, .conjugate_shared = kind.conjugate};
  const Lanes<T>& t = triangle.t;
  for (Index i = 0; i < triangle.size; ++i) {
    LaneDivisor<T> divisor;
    set_divisor<T, kind>(triangle, i, divisor);
    for (Index c = 0; c < columns; c += chains_at_once) {
      alignas(64) Part<T> sums[chains_at_once * step] = {};
      extend_lane_chains<T, chains_at_once, order>(i, x.at(0, c), x.of_column * step, x.of_row * step, t.at(i, 0),
                                                   t.of_column * step, sums);
      for (Index p = 0; p < chains_at_once; ++p) finish_numbers<T, kind>(divisor, sums + p * step, x.at(i, c + p));
    }
  }
}

/// Solves for columns one by one, whose chains of neighbouring rows lie side by side.
template <class T, TriangleKind kind>
[[gnu::always_inline]] inline void solve_single_columns(const LaneTriangle<T>& triangle, Index columns,
                                                        const Lanes<T>& x) {
  constexpr Index step = lane_step<T>;
  constexpr TermOrder order{.conjugate_varied = kind.conjugate};
  const Lanes<T>& t = triangle.t;
  const Index of_row = t.of_row * step, of_column = t.of_column * step, x_of_row = x.of_row * step;
  for (Index first = 0; first < triangle.size; first += chains_at_once) {
    const Index rows = std::min(chains_at_once, triangle.size - first);
    LaneDivisor<T> divisors[chains_at_once];
    for (Index r = 0; r < rows; ++r) set_divisor<T, kind>(triangle, first + r, divisors[r]);
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
        finish_numbers<T, kind>(divisors[r], sums + r * step, x.at(first + r, c));
      }
    }
  }
}

template <class T, TriangleKind kind>
[[gnu::always_inline]] inline void solve_by_lanes(const LaneTriangle<T>& triangle, Index columns, const Lanes<T>& x) {
  const Index in_tiles = columns / chains_at_once * chains_at_once;
  if (in_tiles > 0) solve_tiles<T, kind>(triangle, in_tiles, x);
  if (in_tiles < columns)
    solve_single_columns<T, kind>(triangle, columns - in_tiles, {x.at(0, in_tiles), x.of_row, x.of_column});
}

template <class T>
[[gnu::always_inline]] inline void solve_of_any_kind(const LaneTriangle<T>& triangle, Index columns,
                                                     const Lanes<T>& x) {
  const bool conjugate = is_complex<T> && triangle.conjugate;
  if (triangle.has_unit_diagonal)
    conjugate ? solve_by_lanes<T, TriangleKind{is_complex<T>, true}>(triangle, columns, x)
              : solve_by_lanes<T, TriangleKind{false, true}>(triangle, columns, x);
  else
    conjugate ? solve_by_lanes<T, TriangleKind{is_complex<T>, false}>(triangle, columns, x)
              : solve_by_lanes<T, TriangleKind{false, false}>(triangle, columns, x);
}

// A function for each type, because templates have no clones.
#define TESSERA_SOLUTIONS(T)                                                                              \
  TESSERA_WIDE_CLONES void solve_all(const LaneTriangle<T>& triangle, Index columns, const Lanes<T>& x) { \
    solve_of_any_kind(triangle, columns, x);                                                              \
  }
TESSERA_SOLUTIONS(float)
TESSERA_SOLUTIONS(double)
TESSERA_SOLUTIONS(std::complex<float>)
TESSERA_SOLUTIONS(std::complex<double>)
#undef TESSERA_SOLUTIONS

} // namespace

template <class T>
void solve_lanes(const LaneTriangle<T>& triangle, Index columns, const Lanes<T>& x) {
  solve_all(triangle, columns, x);
}

#define TESSERA_INSTANTIATE(T) template void solve_lanes(const LaneTriangle<T>&, Index, const Lanes<T>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
