#pragma once

/// Groups of 8 unknowns of a triangular system, a column of them for each thread of a warp. Terms are added in
/// ascending order, as the contract has them.

#include "panel.hpp"
#include "rounded.cuh"
#include "vectors.cuh"

namespace tessera::cuda {

inline constexpr int tile_rows = static_cast<int>(most_panel_columns); ///< and columns
inline constexpr int group_rows = 8;                                   ///< unknowns that are found at once
inline constexpr int lane_columns = 32;                                ///< columns of unknowns, one a lane

/// A square of a matrix in shared memory, column by column.
template <class T>
struct Tile {
  static constexpr int padding = 16 / sizeof(T);
  alignas(16) T column[tile_rows][tile_rows + padding];
};

/// A tile on the diagonal, with nearly 1 over each number of the diagonal.
template <class T>
struct TriangleTile {
  const Tile<T>& tile;
  const T* reciprocal;
};

/// Rows of unknowns in shared memory.
template <class T>
struct UnknownTile {
  T row[tile_rows][lane_columns];
};

/// Finds the group of unknowns that begins at `base` from its right-hand sides and sums. Where `is_checked`, says
/// whether all are rounded as the operator rounds them; else uses the operator.
template <bool has_unit_diagonal, bool is_checked, class T>
__device__ __forceinline__ bool solve_group(TriangleTile<T> triangle, int base, const T (&b)[group_rows],
                                            const T (&before)[group_rows], T (&x)[group_rows]) {
  bool is_right = true;
  T sums[group_rows];
#pragma unroll
  for (int c = 0; c < group_rows; ++c) sums[c] = before[c];
#pragma unroll
  for (int c = 0; c < group_rows; ++c) {
    T column[group_rows];
    read_vectors(column, &triangle.tile.column[base + c][base]);
    const T y = b[c] - sums[c];
    if constexpr (has_unit_diagonal) {
      x[c] = y;
    } else if constexpr (is_checked) {
      x[c] = quotient(y, Divisor<T>{column[c], triangle.reciprocal[base + c]});
      is_right &= is_moderate(column[c]) & is_quotient(y, x[c], column[c]);
    } else {
      x[c] = y / column[c];
    }
#pragma unroll
    for (int i = c + 1; i < group_rows; ++i) sums[i] = fma(column[i], x[c], sums[i]);
  }
  return is_right;
}

/// The same, right in any case.
template <bool has_unit_diagonal, class T>
__device__ __forceinline__ void solve_group(TriangleTile<T> triangle, int base, const T (&b)[group_rows],
                                            const T (&sums)[group_rows], T (&x)[group_rows]) {
  if (!solve_group<has_unit_diagonal, true>(triangle, base, b, sums, x))
    solve_group<has_unit_diagonal, false>(triangle, base, b, sums, x);
}

/// Adds the terms of `count` unknowns from `found` on to the sums of the group at `base`.
template <int count, class T>
__device__ __forceinline__ void extend_group(const Tile<T>& tile, const UnknownTile<T>& unknowns, int found, int base,
                                             int lane, T (&sums)[group_rows]) {
#pragma unroll 8
  for (int k = 0; k < count; ++k) {
    T column[group_rows];
    read_vectors(column, &tile.column[found + k][base]);
    const T x = unknowns.row[found + k][lane];
#pragma unroll
    for (int i = 0; i < group_rows; ++i) sums[i] = fma(column[i], x, sums[i]);
  }
}

} // namespace tessera::cuda
