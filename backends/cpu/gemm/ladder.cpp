#include "cpu/gemm/ladder.hpp"

#include <vector>

namespace tessera::cpu {

std::span<const GemmKernel> gemm_ladder() {
  static const std::vector<GemmKernel> rows{naive_f32, naive_f64};
  return rows;
}

} // namespace tessera::cpu
