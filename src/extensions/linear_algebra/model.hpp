#pragma once

/// The contract's formulas of linear algebra as code, element by element (docs/contract.md, "Linear algebra"). They are
/// what Backend::Reference computes, and what the blocked algorithms must equal to the bit. They need no memory.

#include <tessera/linear_algebra/lu.hpp>

#include "products.hpp"

namespace tessera::linear_algebra {

/// A matrix in host memory whose neighbours lie any number of elements apart, also backwards.
template <class T>
struct Grid {
  T* data = nullptr;
  Index of_row = 0, of_column = 1;

  T& at(Index i, Index j) const { return data[i * of_row + j * of_column]; }
  Grid transposed() const { return {data, of_column, of_row}; }
  /// Returns the matrix m×n with rows and columns counted from the last one.
  Grid turned_round(Index m, Index n) const { return {&at(m - 1, n - 1), -of_row, -of_column}; }
};

/// Solves M·X = B, where M is lower triangular, n×n, and X takes B's place, n×count.
void model_solve(Index n, Grid<const float> m, bool has_unit_diagonal, Index count, Grid<float> x);
void model_solve(Index n, Grid<const double> m, bool has_unit_diagonal, Index count, Grid<double> x);

/// Factors the lower triangle, A = L·Lᵀ. Returns n, or the row at which the number below the root is not positive.
Index model_cholesky(Index n, Grid<float> a);
Index model_cholesky(Index n, Grid<double> a);

/// Factors A, m×n, as P·A = L·U. `pivots` has min(m, n) rows that changed places, in ascending order. Returns the first
/// column whose pivot is 0, or −1.
Index model_lu(Index m, Index n, Grid<float> a, detail::RowNumbers pivots);
Index model_lu(Index m, Index n, Grid<double> a, detail::RowNumbers pivots);

} // namespace tessera::linear_algebra
