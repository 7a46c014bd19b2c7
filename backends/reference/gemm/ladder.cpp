#include "ladder.hpp"

#include <array>

namespace tessera::reference {

std::span<const GemmKernel> gemm_ladder() {
  // The ladder is an array, because executors return it from noexcept functions.
  static const std::array kernels{
      canonical_f32,
      canonical_f64,
      canonical_f16,
      canonical_bf16, //
      hopper_units_tf32,
      hopper_units_f16,
      hopper_units_bf16, //
      hopper_units_f32_as_bf16,
      hopper_units_f32_as_f16,
      hopper_units_fp16x3,
      hopper_units_bf16x6,
      hopper_units_scaled_fp16, //
      int8_units_f64,           //
      gold_f32,
      gold_f64,
      gold_f16,
      gold_bf16,
  };
  return kernels;
}

} // namespace tessera::reference
