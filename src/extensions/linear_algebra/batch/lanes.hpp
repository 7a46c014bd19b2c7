#pragma once

/// Small systems of one size side by side: each lane of a vector holds another system, so that every operation of an
/// elimination is one of whole vectors. The chains of each system are the contract's (docs/contract.md, "Linear
/// algebra"), and a lane does not know of the others. Sizes are below a segment's, so that a sum is one chain.
///
/// Nothing is checked.
///
/// Source: Kim et al., "Designing vector-friendly compact BLAS and LAPACK kernels" (2017), and MKL's compact functions.

#include <cstdint>

#include "extensions/linear_algebra/numbers.hpp"

namespace tessera::linear_algebra {

/// The systems that lie side by side: a vector of AVX-512, two of AVX.
template <class T>
inline constexpr Index lane_count = Index{64} / static_cast<Index>(sizeof(Part<T>));
/// From one number of a lane to its next number.
template <class T>
inline constexpr Index lane_step = lane_count<T>* Number<T>::parts;

/// Matrices side by side: part p of number (i, j) of lane l is at(i, j)[p·lane_count + l]. Distances count numbers.
template <class T>
struct Lanes {
  Part<T>* data = nullptr;
  Index of_row = 0, of_column = 1;

  Part<T>* at(Index i, Index j) const { return data + (i * of_row + j * of_column) * lane_step<T>; }
  Lanes transposed() const { return {data, of_column, of_row}; }
  /// Returns the square of n rows with rows and columns counted from the last one.
  Lanes turned_round(Index n) const { return {at(n - 1, n - 1), -of_row, -of_column}; }
  /// Returns the matrix of n rows with the rows counted from the last one.
  Lanes upside_down(Index n) const { return {at(n - 1, 0), -of_row, of_column}; }
};

/// Factors matrices m×n in place, by LU. Step j exchanged row j with row pivots[j·lane_count + l] of lane l. `info`
/// takes 0 for each lane, or the number of the first pivot that is 0, counted from 1.
template <class T>
void factor_lanes(Index m, Index n, const Lanes<T>& a, std::int32_t* pivots, Index* info);

/// Factors positive definite matrices n×n in place, by Cholesky; the upper triangles are not looked at. `info` takes 0
/// for each lane, or the order of the first leading minor that is not positive; such a lane then holds anything.
template <class T>
void factor_positive_lanes(Index n, const Lanes<T>& a, Index* info);

/// A lower triangle of each lane, or its conjugate.
template <class T>
struct LaneTriangle {
  Index size = 0;
  Lanes<T> t;
  bool has_unit_diagonal = false, conjugate = false;
};
/// Solves T·X = B in each lane; X takes the place of B, which has `columns` columns.
template <class T>
void solve_lanes(const LaneTriangle<T>& triangle, Index columns, const Lanes<T>& x);

} // namespace tessera::linear_algebra
