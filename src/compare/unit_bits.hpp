#pragma once

/// The bits of products in the modes of matrix units, by the contract of gemm.hpp.

#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::compare {

/// Returns the rows `rows` of the product of a checked call on host memory whose mode is Tf32, Bf16 or Fp16, one after
/// another, rounded to the call's result type and widened again. It costs as much as 2·rows·n·k operations of
/// unit_sums.hpp. Throws std::bad_alloc.
std::vector<float> unit_bits(const GemmCall& call, const std::vector<Index>& rows, int threads);

} // namespace tessera::compare
