#pragma once

/// A warp's part of a triangular system: 8 unknowns in each of 16 columns. A thread has 4 of them, and the two halves
/// of the warp have the first and the last 4. Terms are added in ascending order, as the contract has them.

#include "panel.hpp"
#include "substitution.cuh"
#include "vectors.cuh"

namespace tessera::cuda {

inline constexpr int tile_rows = static_cast<int>(most_panel_columns); ///< and columns
inline constexpr int warp_rows = 8;                                    ///< unknowns that a warp finds at once
inline constexpr int thread_rows = warp_rows / 2;
inline constexpr int warp_columns = 16; ///< of unknowns

/// A square of a matrix in shared memory, column by column.
template <class T>
struct Tile {
  static constexpr int padding = 16 / sizeof(T);
  alignas(16) T column[tile_rows][tile_rows + padding];
};

/// A warp's unknowns in shared memory, column by column. Eight threads that read vectors meet no bank twice.
template <class T>
struct UnknownGroup {
  static constexpr int padding = 16 / sizeof(T);
  alignas(16) T column[warp_columns][warp_rows + padding];
};

/// Four rows of some columns of a tile.
template <class T, int columns>
struct Coefficients {
  __device__ __forceinline__ Coefficients(const Tile<T>& tile, int first_column, int base) {
#pragma unroll
    for (int k = 0; k < columns; ++k) read_vectors(column[k], &tile.column[first_column + k][base]);
  }

  T column[columns][thread_rows];
};

/// Adds terms to sums.
template <class T, int columns>
__device__ __forceinline__ void add_terms(const Coefficients<T, columns>& by, const T (&x)[columns],
                                          T (&sums)[thread_rows]) {
#pragma unroll
  for (int k = 0; k < columns; ++k)
#pragma unroll
    for (int i = 0; i < thread_rows; ++i) sums[i] = fma(by.column[k][i], x[k], sums[i]);
}

/// The triangle of a warp's rows, from a tile on the diagonal.
template <class T, bool has_unit_diagonal>
class WarpTriangle {
 public:
  /// `reciprocal` has nearly 1 over each number of the tile's diagonal.
  __device__ __forceinline__ WarpTriangle(const Tile<T>& tile, const T* reciprocal, int warp, int lane)
      : half_(lane / warp_columns),
        lane_(lane),
        left_(tile, warp * warp_rows, base(warp, lane)),
        own_{Coefficients<T, thread_rows>(tile, base(warp, lane), base(warp, lane)), {}} {
#pragma unroll
    for (int c = 0; c < thread_rows; ++c)
      own_.reciprocals[c] = has_unit_diagonal ? T(1) : reciprocal[base(warp, lane) + c];
  }
  /// Returns the first row of a thread in its tile.
  static __device__ int base(int warp, int lane) { return warp * warp_rows + lane / warp_columns * thread_rows; }

  /// Finds the unknowns from right-hand sides and sums, as the operators round.
  __device__ __forceinline__ void solve(const T (&b)[thread_rows], const T (&sums)[thread_rows],
                                        T (&x)[thread_rows]) const {
    if (!__all_sync(~0U, solve<true>(b, sums, x))) solve<false>(b, sums, x);
  }

 private:
  /// Where `is_checked`, says whether all numbers are rounded right; else uses the operators.
  template <bool is_checked>
  __device__ __forceinline__ bool solve(const T (&b)[thread_rows], const T (&before)[thread_rows],
                                        T (&x)[thread_rows]) const {
    T sums[thread_rows], first[thread_rows], found[thread_rows];
#pragma unroll
    for (int i = 0; i < thread_rows; ++i) sums[i] = before[i];
    const bool is_first_right = substitute<has_unit_diagonal, is_checked>(own_, b, sums, first);
#pragma unroll
    for (int c = 0; c < thread_rows; ++c) found[c] = __shfl_sync(~0U, first[c], lane_ % warp_columns);
    add_terms(left_, found, sums);
    T last[thread_rows];
    const bool is_last_right = substitute<has_unit_diagonal, is_checked>(own_, b, sums, last);
#pragma unroll
    for (int c = 0; c < thread_rows; ++c) x[c] = half_ == 0 ? first[c] : last[c];
    return half_ == 0 ? is_first_right : is_last_right;
  }

  /// The triangle of a thread's rows.
  struct Own {
    __device__ __forceinline__ void column(int c, T (&to)[thread_rows]) const {
#pragma unroll
      for (int i = 0; i < thread_rows; ++i) to[i] = coefficients.column[c][i];
    }
    __device__ __forceinline__ DiagonalNumber<T> diagonal(int c) const { return {reciprocals[c]}; }
    static __device__ __forceinline__ T extended(T t, T x, T sum) { return fma(t, x, sum); }

    Coefficients<T, thread_rows> coefficients;
    T reciprocals[thread_rows];
  };

  int half_, lane_;
  Coefficients<T, thread_rows> left_; ///< of the last rows, in the columns of the first ones
  Own own_;
};

} // namespace tessera::cuda
