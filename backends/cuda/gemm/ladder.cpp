#include "ladder.hpp"

#include <array>

#include "other_generations.hpp"

namespace tessera::cuda {

namespace {

const auto& all_kernels() {
  static const std::array kernels{
      // clang-format off
      // Math::Strict. cuBLAS does not keep the contract, so it comes after the first kernel that does and takes every call.
      // cublas_lt* is a yardstick: it runs only where it is named, in every mode.
      fma_small_f32, fma_small_f64,
      slender_f32, slender_f64,
      stream_k_f32, stream_k_f64,
      segmented_f32, segmented_f64,
      dmma_f64,
      async_copy_f32, async_copy_f64,
      cublas_f32, cublas_f64, cublas_lt_f32, cublas_lt_f64,
      warp_tile_f32, warp_tile_f64,
      z_order_f32, z_order_f64,
      conflict_free_f32, conflict_free_f64,
      double_buffer_f32, double_buffer_f64,
      float4_f32, float4_f64,
      tile_2d_register_f32, tile_2d_register_f64,
      occupancy_1_f32, occupancy_1_f64,
      occupancy_3_f32, occupancy_3_f64,
      tile_2d_f32, tile_2d_f64,
      tile_1d_f32, tile_1d_f64,
      shared_tile_bank_padded_f32, shared_tile_bank_padded_f64,
      shared_tile_zero_padded_f32, shared_tile_zero_padded_f64,
      shared_tile_32_f32, shared_tile_32_f64,
      shared_tile_16_f32, shared_tile_16_f64,
      row_shared_f32, row_shared_f64,
      naive_coalesced_f32, naive_coalesced_f64,
      pitched_f32, pitched_f64,
      naive_flat_f32, naive_flat_f64,
      transposed_b_f32, transposed_b_f64,
      naive_strided_f32, naive_strided_f64,
      widened_f16, widened_bf16,
      // Math modes of reduced precision, which a call must ask for.
      mma_small_tf32_f32, wgmma_tf32_f32, mma_sync_tf32_f32, strict_tf32_f32, cublas_tf32_f32, cublas_lt_tf32_f32, wmma_tf32_f32,
      wgmma_bf16_f32, cublas_bf16_f32, cublas_lt_bf16_f32,
      wgmma_fp16_f32, cublas_fp16_f32, cublas_lt_fp16_f32,
      // 16-bit operands on matrix units, without a conversion.
      mma_small_bf16_bf16, mma_bf16_bf16, wgmma_bf16_bf16, mma_sync_bf16_bf16, cublas_bf16, cublas_lt_bf16, wmma_bf16_bf16,
      mma_small_fp16_f16, mma_fp16_f16, wgmma_fp16_f16, mma_sync_fp16_f16, cublas_f16, cublas_lt_f16, wmma_fp16_f16,
      // Math modes with results of f32's accuracy on matrix units, which a call must ask for.
      strict_fp16x3_f32, emulated_fp16x3_f32,
      strict_bf16x6_f32, emulated_bf16x6_f32,
      // tf32's accuracy on matrix units of f16, which a call must ask for.
      strict_scaled_fp16_f32, scaled_fp16_f32,
      // f64's accuracy on 8-bit matrix units, which a call must ask for.
      strict_int8_units_f64, int8_units_f64,
      // Math::Compensated.
      kahan_tile_f32, kahan_tile_f64,
      kahan_tile_zero_padded_f32, kahan_tile_zero_padded_f64,
      kahan_row_shared_f32, kahan_row_shared_f64,
      kahan_flat_f32, kahan_flat_f64,
      // clang-format on
  };
  return kernels;
}

} // namespace

std::span<const GemmKernel> gemm_ladder() { return all_kernels(); }

std::span<const GemmKernel> ladder_of_other_generations() {
  static const auto kernels = [] {
    auto copy = all_kernels();
    for (GemmKernel& kernel : copy)
      if (kernel.summation == Summation::HopperUnits) kernel.summation = Summation::Other;
    return copy;
  }();
  return kernels;
}

} // namespace tessera::cuda
