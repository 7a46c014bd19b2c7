#pragma once

/// C of one row: B is read once, and nothing else of that size, so the matrix units have nothing to gain.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>
#include <tessera/status.hpp>

namespace tessera::cuda {

/// Whether C is one row, and B stored row by row, wide enough for all multiprocessors, its rows whole 16-byte chunks.
bool is_gemv(const GemmCall& call) noexcept;

/// C := alpha·op(A)·B + beta·C in f32: products of 16-bit operands are exact, those of f32 rounded once with the sum.
Status launch_gemv(cudaStream_t stream, const GemmCall& call, const char* name) noexcept;

} // namespace tessera::cuda
