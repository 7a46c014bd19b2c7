#pragma once

/// The product of a vector and a matrix: C has one row. B is read once and is the only large operand, so the matrix
/// units have nothing to gain. slender/gemv.cu defines the functions.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>
#include <tessera/status.hpp>

namespace tessera::cuda {

/// Returns whether C has one row and B is stored row by row, is wide enough to give all multiprocessors work, and has
/// rows that are whole 16-byte chunks.
bool is_gemv(const GemmCall& call) noexcept;

/// Enqueues C := alpha·op(A)·B + beta·C, summed in f32. Products of 16-bit operands are exact; products of f32 operands
/// are rounded once, together with the sum. Precondition: is_gemv(call).
Status launch_gemv(cudaStream_t stream, const GemmCall& call, const char* name) noexcept;

} // namespace tessera::cuda
