#pragma once

/// The ladder of products.

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::opencl {

extern const GemmKernel tiled_f32, tiled_f64, tiled_f16, tiled_bf16;
extern const GemmKernel naive_coalesced_f32, naive_coalesced_f64;
extern const GemmKernel widened_f16, widened_bf16;

/// Every kernel, best first.
std::span<const GemmKernel> gemm_ladder();

} // namespace tessera::opencl
