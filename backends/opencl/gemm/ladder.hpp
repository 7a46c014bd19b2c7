#pragma once

/// The ladder of products.

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::opencl {

extern const GemmKernel tiled_f32, tiled_f64, tiled_f16, tiled_bf16;
extern const GemmKernel tiled_local_f32, tiled_local_f64, tiled_local_f16, tiled_local_bf16;
extern const GemmKernel naive_strided_f32, naive_strided_f64;
extern const GemmKernel naive_coalesced_f32, naive_coalesced_f64;
extern const GemmKernel local_tile_f32, local_tile_f64;
extern const GemmKernel local_tile_bank_padded_f32, local_tile_bank_padded_f64;
extern const GemmKernel tile_2d_register_f32, tile_2d_register_f64;
extern const GemmKernel float4_f32, float4_f64;
extern const GemmKernel double_buffer_f32, double_buffer_f64;
extern const GemmKernel conflict_free_f32, conflict_free_f64;
extern const GemmKernel z_order_f32, z_order_f64;
extern const GemmKernel segmented_f32, segmented_f64;
extern const GemmKernel clblast_f32, clblast_f64;
extern const GemmKernel widened_f16, widened_bf16;

/// Every kernel, best first.
std::span<const GemmKernel> gemm_ladder();

} // namespace tessera::opencl
