/// naive_coalesced: a thread an element of C, threadIdx.x along its columns.
///
/// A warp reads one element of A (a broadcast) and 32 neighbours of B a step: two transactions for 32 FMAs. Every
/// element reads k of A and k of B again: 2·m·n·k elements read, from the caches if they are large enough. CUDA matmul
/// blog: 7.5 times its strided twin; every other source too.

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"
#include "dot.cuh"
#include "traffic.hpp"

namespace tessera::cuda {
namespace {

constexpr int tile_m = 8;
constexpr int tile_n = 32;

template <class T>
__global__ void naive_coalesced(StridedOperands<T> x) {
  const TileOrigin origin = tile_origin(x, tile_m, tile_n);
  const Index i = origin.row + threadIdx.y;
  const Index j = origin.col + threadIdx.x;
  if (i < x.m && j < x.n) compute_element<CanonicalSum<T>>(x, i, j);
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  naive_coalesced<<<tile_count(call, tile_m, tile_n), dim3(tile_n, tile_m), 0, stream_of(queue)>>>(
      StridedOperands<T>(call));
  return launched("naive_coalesced");
}

template <class T>
constexpr GemmKernel row{.name = "naive_coalesced",
                         .summary = "a thread an element, neighbours in a warp read neighbours of B",
                         .source = "CUDA matmul blog; SGEMM repository; course report; kernel walkthrough",
                         .type = dtype_of<T>,
                         .tile = {tile_m, tile_n, 1},
                         .summation = Summation::Canonical,
                         .run = run<T>,
                         .traffic = coalesced_traffic};

} // namespace

const GemmKernel naive_coalesced_f32 = row<float>;
const GemmKernel naive_coalesced_f64 = row<double>;

} // namespace tessera::cuda
