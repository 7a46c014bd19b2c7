/// shared_tile: the block copies square tiles of A and B to shared memory, 16×16 or 32×32; each thread computes one
/// result.
///
/// Each element that the block reads from global memory is used `tile` times: one result costs 2·k operations and reads
/// 2·k/tile elements from global memory (k/4 bytes in f32 with tiles of 32). The new limit is shared memory, which a
/// warp reads twice for each FMA: one broadcast for A and one row of B. Tiles that reach over an edge are padded as
/// they are loaded. Every source that this folder names has this rung, and so has every CUDA course.

#include <tessera/backend/traffic.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/ladder.hpp"
#include "square_tile.cuh"

namespace tessera::cuda {
namespace {

template <class T, int tile>
Status run(const GemmKernel& kernel, Executor&, Queue& queue, const GemmCall& call) noexcept {
  square_tile::launch<T, CanonicalSum<T>, tile, 0>(queue, call);
  return launched(kernel.name);
}

template <class T, int tile>
constexpr GemmKernel rung{.name = tile == 16 ? "shared_tile_16" : "shared_tile_32",
                          .summary = "square tiles of A and B in shared memory",
                          .source = "CUDA matmul blog; course report; SGEMM repository; kernel walkthrough",
                          .type = dtype_of<T>,
                          .tile = {tile, tile, tile},
                          .summation = Summation::Canonical,
                          .run = run<T, tile>,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel shared_tile_16_f32 = rung<float, 16>;
const GemmKernel shared_tile_16_f64 = rung<double, 16>;
const GemmKernel shared_tile_32_f32 = rung<float, 32>;
const GemmKernel shared_tile_32_f64 = rung<double, 32>;

} // namespace tessera::cuda
