#pragma once

/// Matrices as the BLAS's level 2 stores them: column by column, where each column has the neighbours of a range of
/// rows. General, band, triangular and packed matrices differ in this range and in where a column lies.

#include <algorithm>

#include "strided.hpp"

namespace tessera::vectors {

/// What stands on the diagonal.
enum class OnDiagonal {
  Stored, ///< the stored number
  One,    ///< 1; the stored number is not read
  Real    ///< the real part of the stored number
};

/// Element (i, j) is data[start(j) + i], for the rows first(j) … end(j) − 1 of column j.
template <class N>
struct Columns {
  N* data = nullptr;
  Index rows = 0, cols = 0;
  Index below = 0, above = 0; ///< how many diagonals are stored on either side of the main one
  Index step = 0;             ///< from a column to the next one
  Index growth = 0;           ///< how much longer the step becomes with each column
  OnDiagonal diagonal = OnDiagonal::Stored;

  Index start(Index j) const { return j * step + growth * (j * (j + 1) / 2); }
  N* column(Index j) const { return data + start(j); }
  Index first(Index j) const { return std::clamp<Index>(j - above, 0, rows); }
  Index end(Index j) const { return std::clamp<Index>(j + below + 1, 0, rows); }
  /// The columns that have a row of r0 … r1 − 1 end there, or begin.
  Index first_column(Index r0) const { return std::clamp<Index>(r0 - below, 0, cols); }
  Index end_column(Index r1) const { return std::clamp<Index>(r1 + above, 0, cols); }

  operator Columns<const N>() const { return {data, rows, cols, below, above, step, growth, diagonal}; }
};

/// Which triangle of a matrix is stored.
enum class Half { Upper, Lower };

template <class N>
Columns<N> general(N* a, Index rows, Index cols, Index ld) {
  return {a, rows, cols, rows, cols, ld};
}
/// A band, whose diagonals are rows of `a`; the uppermost is the first.
template <class N>
Columns<N> band(N* a, Index rows, Index cols, Index below, Index above, Index ld) {
  return {a + above, rows, cols, below, above, ld - 1};
}
template <class N>
Columns<N> triangle(N* a, Half half, Index n, Index ld) {
  return {a, n, n, half == Half::Lower ? n : 0, half == Half::Upper ? n : 0, ld};
}
template <class N>
Columns<N> band_triangle(N* a, Half half, Index n, Index diagonals, Index ld) {
  const bool upper = half == Half::Upper;
  return band(a, n, n, upper ? 0 : diagonals, upper ? diagonals : 0, ld);
}
/// A triangle whose columns follow one another without gaps.
template <class N>
Columns<N> packed_triangle(N* a, Half half, Index n) {
  if (half == Half::Upper) return {a, n, n, 0, n, 0, 1};
  return {a, n, n, n, 0, n, -1};
}

/// How a matrix is taken.
struct Form {
  bool transposed = false, conjugated = false;
};

} // namespace tessera::vectors
