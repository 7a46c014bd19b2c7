#pragma once

/// Products whose C has up to 16 rows or columns, on matrix units. Their cost is reading the large operand once. It
/// goes from memory straight into the registers that the matrix instructions read, so that nothing is copied through
/// shared memory and no zeros fill a tile. slender/few_vectors.cu defines the functions.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>
#include <tessera/status.hpp>

namespace tessera::cuda {

/// Returns whether C has at most 16 rows or columns, and enough of the other that all multiprocessors have work, and
/// the lines of the large operand are whole 16-byte chunks. Precondition: compute capability 9.0, and sizes below 2³⁰.
bool is_few_vectors(const GemmCall& call) noexcept;

/// Enqueues C := alpha·op(A)·op(B) + beta·C, summed in f32. Products of 16-bit operands are exact; f32 operands are
/// rounded to tf32. Precondition: is_few_vectors(call).
Status launch_few_vectors(cudaStream_t stream, const GemmCall& call, const char* name) noexcept;

} // namespace tessera::cuda
