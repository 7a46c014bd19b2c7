/// naive_coalesced: each thread computes one element of C, and threadIdx.x counts columns of C.
///
/// In each step of k a warp reads one element of A, which is broadcast to its 32 threads, and 32 neighbouring elements
/// of B: two transactions serve 32 FMAs. One result costs 2·k operations and reads 2·k elements (8·k bytes in f32),
/// because no thread keeps anything for another result; most reads come from the caches if the caches are large enough.
/// The sources are the CUDA matmul blog and every other source that this folder names.

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"
#include "dot.cuh"

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
constexpr GemmKernel rung{.name = "naive_coalesced",
                          .summary = "a thread an element, neighbours in a warp read neighbours of B",
                          .source = "CUDA matmul blog; SGEMM repository; course report; kernel walkthrough",
                          .type = dtype_of<T>,
                          .tile = {tile_m, tile_n, 1},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .traffic = coalesced_traffic};

} // namespace

const GemmKernel naive_coalesced_f32 = rung<float>;
const GemmKernel naive_coalesced_f64 = rung<double>;

} // namespace tessera::cuda
