#pragma once

/// The GEMM ladder of CUDA. Each kernel is defined at the end of the file of its name: a rung of textbook/, or a file
/// of another family. docs/kernels.md says how to add one.

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

extern const GemmKernel cublas_f32, cublas_f64;
extern const GemmKernel cublas_tf32_f32, cublas_bf16_f32, cublas_fp16_f32;
extern const GemmKernel cublas_bf16, cublas_f16;
extern const GemmKernel cublas_lt_f32, cublas_lt_f64;
extern const GemmKernel cublas_lt_tf32_f32, cublas_lt_bf16_f32, cublas_lt_fp16_f32;
extern const GemmKernel cublas_lt_bf16, cublas_lt_f16;
extern const GemmKernel widened_f16, widened_bf16;
extern const GemmKernel wmma_tf32_f32, wmma_fp16_f16, wmma_bf16_bf16;
extern const GemmKernel wgmma_tf32_f32, wgmma_bf16_f32, wgmma_fp16_f32;
extern const GemmKernel wgmma_bf16_bf16, wgmma_fp16_f16;
extern const GemmKernel mma_bf16_bf16, mma_fp16_f16;
extern const GemmKernel mma_small_bf16_bf16, mma_small_fp16_f16, mma_small_tf32_f32;
extern const GemmKernel mma_sync_bf16_bf16, mma_sync_fp16_f16, mma_sync_tf32_f32;
extern const GemmKernel emulated_fp16x3_f32, emulated_bf16x6_f32, scaled_fp16_f32;
extern const GemmKernel strict_tf32_f32, strict_fp16x3_f32, strict_bf16x6_f32, strict_scaled_fp16_f32;
extern const GemmKernel int8_units_f64, strict_int8_units_f64;
extern const GemmKernel fma_small_f32, fma_small_f64;
extern const GemmKernel slender_f32, slender_f64;
extern const GemmKernel stream_k_f32, stream_k_f64;
extern const GemmKernel segmented_f32, segmented_f64;
extern const GemmKernel dmma_f64;
extern const GemmKernel async_copy_f32, async_copy_f64;
extern const GemmKernel warp_tile_f32, warp_tile_f64;
extern const GemmKernel z_order_f32, z_order_f64;
extern const GemmKernel conflict_free_f32, conflict_free_f64;
extern const GemmKernel double_buffer_f32, double_buffer_f64;
extern const GemmKernel float4_f32, float4_f64;
extern const GemmKernel tile_2d_register_f32, tile_2d_register_f64;
extern const GemmKernel occupancy_1_f32, occupancy_1_f64;
extern const GemmKernel occupancy_3_f32, occupancy_3_f64;
extern const GemmKernel tile_2d_f32, tile_2d_f64;
extern const GemmKernel tile_1d_f32, tile_1d_f64;
extern const GemmKernel shared_tile_bank_padded_f32, shared_tile_bank_padded_f64;
extern const GemmKernel shared_tile_zero_padded_f32, shared_tile_zero_padded_f64;
extern const GemmKernel shared_tile_32_f32, shared_tile_32_f64;
extern const GemmKernel shared_tile_16_f32, shared_tile_16_f64;
extern const GemmKernel row_shared_f32, row_shared_f64;
extern const GemmKernel pitched_f32, pitched_f64;
extern const GemmKernel naive_coalesced_f32, naive_coalesced_f64;
extern const GemmKernel naive_flat_f32, naive_flat_f64;
extern const GemmKernel transposed_b_f32, transposed_b_f64;
extern const GemmKernel naive_strided_f32, naive_strided_f64;
extern const GemmKernel kahan_tile_zero_padded_f32, kahan_tile_zero_padded_f64;
extern const GemmKernel kahan_tile_f32, kahan_tile_f64;
extern const GemmKernel kahan_row_shared_f32, kahan_row_shared_f64;
extern const GemmKernel kahan_flat_f32, kahan_flat_f64;

/// Returns all kernels, the best first. A call takes the first kernel of its type and math mode that does not reject
/// it.
std::span<const GemmKernel> gemm_ladder();

} // namespace tessera::cuda
