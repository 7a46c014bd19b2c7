#pragma once

/// The contract's formulas of inverses as code, element by element (docs/contract.md, "Inverses"): what
/// Backend::Reference computes, and what the blocked algorithms must equal to the bit. They take their operand's place
/// and need no memory. `stored` says whether the memory holds the matrix of the formula, or its transpose; then the
/// factors of each complex term change places, as in a product of the transposes.

#include <tessera/types.hpp>

#include "extensions/linear_algebra/products.hpp"

namespace tessera::linear_algebra {

/// A lower triangle becomes its inverse.
template <class T>
void model_invert(Op stored, Index n, bool has_unit_diagonal, Block<T> a);

/// An upper triangle U becomes the upper triangle of U·Uᴴ. The diagonal's imaginary parts are taken as 0.
template <class T>
void model_square(Op stored, Index n, Block<T> a);

/// The upper triangle of A is a matrix B with zeros below its diagonal, and what is below is L, whose diagonal is ones.
/// A becomes the X of X·L = B. `work` has n numbers.
template <class T>
void model_solve_by_l(Op stored, Index n, Block<T> a, T* work);

} // namespace tessera::linear_algebra
