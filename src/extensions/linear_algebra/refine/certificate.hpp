#pragma once

/// Whether X is certified as the solution of a system near A·X = B. The products have the contract's bits, and what
/// follows them is a fixed sequence of operations: so the answer does not depend on the backend or the threads.
/// docs/linear_algebra.md ("Refined solutions") has the proof.

#include "system.hpp"

namespace tessera::linear_algebra {

/// Throws NotRefined where X, which system.x() is, is not certified.
template <class T>
void certify(RefinedSystem<T>& system, const Matrix<T>& x, const Matrix<T>& b);

} // namespace tessera::linear_algebra
