#pragma once

/// The bits of products in the modes of matrix units, by the numerical contract (docs/contract.md).

#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::compare {

/// Returns the rows `rows` of the product of a checked call on host memory whose mode has a contract of matrix units,
/// one after another, rounded to the call's result type and widened again. It costs as much as matrix_unit_sums() of
/// these rows (matrix_unit_sums.hpp). Throws std::bad_alloc.
std::vector<float> matrix_unit_bits(const GemmCall& call, const std::vector<Index>& rows, int threads);

} // namespace tessera::compare
