#pragma once

/// The contract's formulas of linear algebra as code, element by element (docs/contract.md, "Linear algebra"). They are
/// what Backend::Reference computes, and what the blocked algorithms must equal to the bit.

#include "panel.hpp"
#include "triangular.hpp"

namespace tessera::linear_algebra {

/// Solves M·X = B (Left, X n×count) or X·Mᵀ = B (Right, X count×n).
void model_solve(Side side, const ForwardTriangle<float>& triangle, Index count, Block<float> x);
void model_solve(Side side, const ForwardTriangle<double>& triangle, Index count, Block<double> x);

/// Factors the lower triangle, A = L·Lᵀ. Returns n, or the row at which the number below the root is not positive.
Index model_cholesky(Index n, Block<float> a);
Index model_cholesky(Index n, Block<double> a);

/// Factors A, m×n, as P·A = L·U. `pivots` has min(m, n) rows that changed places, as factor_panel() has them. Returns
/// the first column whose pivot is 0, or −1.
Index model_lu(Index m, Index n, Block<float> a, Index* pivots);
Index model_lu(Index m, Index n, Block<double> a, Index* pivots);

} // namespace tessera::linear_algebra
