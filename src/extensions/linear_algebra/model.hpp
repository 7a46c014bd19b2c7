#pragma once

/// The contract's formulas of linear algebra as code, element by element (docs/contract.md, "Linear algebra"). They are
/// what Backend::Reference computes, and what the blocked algorithms must equal to the bit. They need no memory.

#include <tessera/linear_algebra/lu.hpp>

#include "model_products.hpp"

namespace tessera::linear_algebra {

/// Factors the lower triangle of A, A = L·Lᴴ. Returns n, or the row at which the number below the root is not positive.
Index model_cholesky(Index n, Grid<float> a);
Index model_cholesky(Index n, Grid<double> a);
Index model_cholesky(Index n, Grid<std::complex<float>> a);
Index model_cholesky(Index n, Grid<std::complex<double>> a);

/// Factors A, m×n, as P·A = L·U. `pivots` has min(m, n) rows that changed places, in ascending order. Returns the first
/// column whose pivot is 0, or −1. `math` is the mode of the sums of whole segments; other numbers than f32 have
/// Math::Strict alone.
Index model_lu(Index m, Index n, Grid<float> a, detail::RowNumbers pivots, Math math = Math::Strict);
Index model_lu(Index m, Index n, Grid<double> a, detail::RowNumbers pivots, Math math = Math::Strict);
Index model_lu(Index m, Index n, Grid<std::complex<float>> a, detail::RowNumbers pivots, Math math = Math::Strict);
Index model_lu(Index m, Index n, Grid<std::complex<double>> a, detail::RowNumbers pivots, Math math = Math::Strict);

} // namespace tessera::linear_algebra
