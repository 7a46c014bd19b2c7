#include "cpu/gemm/ladder.hpp"

#include <vector>

namespace tessera::cpu {

std::span<const GemmKernel> gemm_ladder() {
  static const std::vector<GemmKernel> rows{simd_f32,          simd_f64,          cache_blocked_f32, cache_blocked_f64,
                                            tiled_4x4_f32,     tiled_4x4_f64,     double_packed_f32, double_packed_f64,
                                            single_packed_f32, single_packed_f64, transposed_f32,    transposed_f64,
                                            naive_f32,         naive_f64};
  return rows;
}

} // namespace tessera::cpu
