#pragma once

/// f32 products of 5 to 64 rows or columns on Hopper, with strict sums. Their cost is to read the large operand,
/// once; from 17 rows or columns on, the cost is to multiply.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>
#include <tessera/status.hpp>

namespace tessera::cuda {

/// Says whether C has 5 to 64 rows or columns and at least 32 of the other, and k is more than one segment and at most
/// eight. The kernel needs compute capability 9.0.
bool is_few_vectors_ffma(const GemmCall& call) noexcept;

/// Estimates the clock cycles of a product, comparable with the costs of slender's tiles and of stream_k.
Index few_vectors_ffma_cost(const GemmCall& call, Index multiprocessors) noexcept;

/// Computes C := alpha·op(A)·op(B) + beta·C.
Status launch_few_vectors_ffma(cudaStream_t stream, const GemmCall& call, Index multiprocessors,
                               const char* name) noexcept;

} // namespace tessera::cuda
