#include "ladder.hpp"

#include <array>

namespace tessera::opencl {

std::span<const GemmKernel> gemm_ladder() {
  static const std::array kernels{
      // clang-format off
      naive_coalesced_f32, naive_coalesced_f64,
      widened_f16, widened_bf16,
      // clang-format on
  };
  return kernels;
}

} // namespace tessera::opencl
