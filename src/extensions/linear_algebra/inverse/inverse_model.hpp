#pragma once

/// The contract's formulas of inverses as code, element by element (docs/contract.md, "Inverses"): what
/// Backend::Reference computes, and what the blocked algorithms must equal to the bit. They take their operand's place
/// and need no memory.

#include "extensions/linear_algebra/model_products.hpp"

namespace tessera::linear_algebra {

/// A lower triangle becomes its inverse.
void model_invert(Index n, bool has_unit_diagonal, Grid<float> a);
void model_invert(Index n, bool has_unit_diagonal, Grid<double> a);

/// An upper triangle U becomes the upper triangle of U·Uᵀ.
void model_square(Index n, Grid<float> a);
void model_square(Index n, Grid<double> a);

/// The upper triangle of A is a matrix B with zeros below its diagonal, and what is below is L, whose diagonal is ones.
/// A becomes the X of X·L = B. `work` has n numbers.
void model_solve_by_l(Index n, Grid<float> a, float* work);
void model_solve_by_l(Index n, Grid<double> a, double* work);

} // namespace tessera::linear_algebra
