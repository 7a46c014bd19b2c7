#include "ladder.hpp"

#include <array>

namespace tessera::opencl {

std::span<const GemmKernel> gemm_ladder() {
  static const std::array kernels{
      // clang-format off
      tiled_f32, tiled_f64, tiled_f16, tiled_bf16,
      naive_coalesced_f32, naive_coalesced_f64,
      widened_f16, widened_bf16,
      // clang-format on
  };
  return kernels;
}

} // namespace tessera::opencl
