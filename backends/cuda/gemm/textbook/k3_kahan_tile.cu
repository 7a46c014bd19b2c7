/// kahan_tile: shared_tile_32 with compensated summation.
///
/// Each product takes four dependent operations instead of one FMA, while 06_shared_tile.cu waits for shared memory.
/// One result reads 2·k/32 elements from global memory (k/4 bytes in f32). The error is about 2u·Σ|a·b| for every k,
/// where u is the unit roundoff. The source is the CUDA course.

#include <tessera/backend/traffic.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/ladder.hpp"
#include "kahan.cuh"
#include "square_tile.cuh"

namespace tessera::cuda {
namespace {

constexpr int tile = 32;

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  square_tile::launch<T, KahanSum<T>, tile, 0>(queue, call);
  return launched("kahan_tile");
}

template <class T>
constexpr GemmKernel rung{.name = "kahan_tile",
                          .summary = "shared_tile_32 with Kahan's compensated summation",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .math = Math::Compensated,
                          .tile = {tile, tile, tile},
                          .run = run<T>,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel kahan_tile_f32 = rung<float>;
const GemmKernel kahan_tile_f64 = rung<double>;

} // namespace tessera::cuda
