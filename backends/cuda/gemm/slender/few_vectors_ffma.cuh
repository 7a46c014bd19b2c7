#pragma once

/// f32 products of 5 to 16 rows or columns on Hopper, with the canonical sums: what costs is to read the large
/// operand, once.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>
#include <tessera/status.hpp>

namespace tessera::cuda {

/// Whether C has so few rows or columns, and 32 or more of the others, and k is several segments, up to eight. For
/// compute capability 9.0.
bool is_few_vectors_ffma(const GemmCall& call) noexcept;

/// Clock cycles that a product takes, about, as slender counts its tiles'.
Index few_vectors_ffma_cost(const GemmCall& call, Index multiprocessors) noexcept;

/// C := alpha·op(A)·op(B) + beta·C.
Status launch_few_vectors_ffma(cudaStream_t stream, const GemmCall& call, Index multiprocessors,
                               const char* name) noexcept;

} // namespace tessera::cuda
