#pragma once

/// The bits of products in Math::Int8Units, by the numerical contract (docs/contract.md).

#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::compare {

/// Returns the rows `rows` of the product of a checked call of f64 on host memory, one after another. An element takes
/// k multiplications of integers of 128 bits. Throws std::bad_alloc.
std::vector<double> whole_number_bits(const GemmCall& call, const std::vector<Index>& rows, int threads);

} // namespace tessera::compare
