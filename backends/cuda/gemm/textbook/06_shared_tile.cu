/// shared_tile: square tiles of A and B in shared memory, 16×16 and 32×32, a thread a result.
///
/// Each element that a block reads from global memory is used `tile` times: 2·m·n·k/tile elements read. Per FMA a warp
/// reads shared memory twice (one broadcast, one row), which is the new limit. Edges are padded as they are loaded. In
/// every source and every CUDA course.

#include <tessera/backend/traffic.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/ladder.hpp"
#include "square_tile.cuh"

namespace tessera::cuda {
namespace {

template <class T, int tile>
Status run(const GemmKernel& row, Executor&, Queue& queue, const GemmCall& call) noexcept {
  square_tile::launch<T, CanonicalSum<T>, tile, 0>(queue, call);
  return launched(row.name);
}

template <class T, int tile>
constexpr GemmKernel row{.name = tile == 16 ? "shared_tile_16" : "shared_tile_32",
                         .summary = "square tiles of A and B in shared memory",
                         .source = "CUDA matmul blog; course report; SGEMM repository; kernel walkthrough",
                         .type = dtype_of<T>,
                         .tile = {tile, tile, tile},
                         .summation = Summation::Canonical,
                         .run = run<T, tile>,
                         .traffic = tile_traffic};

} // namespace

const GemmKernel shared_tile_16_f32 = row<float, 16>;
const GemmKernel shared_tile_16_f64 = row<double, 16>;
const GemmKernel shared_tile_32_f32 = row<float, 32>;
const GemmKernel shared_tile_32_f64 = row<double, 32>;

} // namespace tessera::cuda
