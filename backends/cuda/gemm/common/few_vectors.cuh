#pragma once

/// C of up to 16 rows or columns: what costs is to read the large operand, once. It goes from memory straight into the
/// registers that the matrix units read, so that nothing is copied, and no zeros are to fill a tile.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>
#include <tessera/status.hpp>

namespace tessera::cuda {

/// Whether C has so few rows or columns, and so many of the other that all multiprocessors have work, and the large
/// operand's lines are whole 16-byte chunks. For compute capability 9.0, and sizes below 2³⁰.
bool is_few_vectors(const GemmCall& call) noexcept;

/// C := alpha·op(A)·op(B) + beta·C, summed in f32: products of 16-bit operands are exact, f32 operands are rounded to
/// tf32.
Status launch_few_vectors(cudaStream_t stream, const GemmCall& call, const char* name) noexcept;

} // namespace tessera::cuda
