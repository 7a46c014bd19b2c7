#pragma once

/// f64 products of up to 16 rows or columns on Hopper's matrix units, with strict sums. Their cost is to read
/// the large operand, once.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>
#include <tessera/status.hpp>

namespace tessera::cuda {

/// Says whether C has at most 16 rows or columns, but not one row with B stored row by row, and k is at most eight
/// segments. The kernel needs compute capability 9.0.
bool is_few_vectors_dmma(const GemmCall& call) noexcept;

/// Computes C := alpha·op(A)·op(B) + beta·C.
Status launch_few_vectors_dmma(cudaStream_t stream, const GemmCall& call, const char* name) noexcept;

} // namespace tessera::cuda
