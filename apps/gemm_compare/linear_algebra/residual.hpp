#pragma once

/// The errors of results of linear algebra beside the bounds that hold for any order of additions, in rows that are
/// drawn at random, or in all rows where that is cheap.

#include <tessera/checking/compare.hpp>

#include "problem.hpp"

namespace tessera::compare_app {

/// Compares the results in `work` with the data. Relative errors are relative to the sums of the terms' magnitudes.
/// What is compared: A·Aᵀ (syrk), L·X (trsm), L·Lᵀ (potrf), L·U with A's rows permuted (getrf), columns of Q·R (geqrf),
/// A·x with b (posv, gesv). Transposes of complex numbers are conjugated, but for syrk.
///
/// Source of the bounds: Higham, "Accuracy and Stability of Numerical Algorithms", theorems 8.5, 9.3, 9.4, 10.3 and
/// 10.4, lemma 19.3; sections 3.6 and 19.3 for complex numbers, whose sums docs/linear_algebra.md counts.
template <class T>
GemmError residual_of(const SystemOperation& operation, const SystemData<T>& data, SystemWork<T>& work);

/// Returns the elements of the result by rows, so that bits of different ways can be compared: the triangle, both
/// factors, or X.
template <class T>
std::vector<T> outcome_of(const SystemOperation& operation, const SystemData<T>& data, SystemWork<T>& work);

} // namespace tessera::compare_app
