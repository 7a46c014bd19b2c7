#include "ladder.hpp"

#include <array>

namespace tessera::opencl {

std::span<const GemmKernel> gemm_ladder() {
  static const std::array kernels{
      // clang-format off
      tiled_f32, tiled_f64, tiled_f16, tiled_bf16,
      tiled_local_f32, tiled_local_f64, tiled_local_f16, tiled_local_bf16,
      segmented_f32, segmented_f64,
      z_order_f32, z_order_f64,
      conflict_free_f32, conflict_free_f64,
      double_buffer_f32, double_buffer_f64,
      float4_f32, float4_f64,
      tile_2d_register_f32, tile_2d_register_f64,
      local_tile_bank_padded_f32, local_tile_bank_padded_f64,
      local_tile_f32, local_tile_f64,
      naive_coalesced_f32, naive_coalesced_f64,
      naive_strided_f32, naive_strided_f64,
      widened_f16, widened_bf16,
      clblast_f32, clblast_f64,
      // clang-format on
  };
  return kernels;
}

} // namespace tessera::opencl
