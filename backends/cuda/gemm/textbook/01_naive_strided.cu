/// naive_strided: each thread computes one element of C, and threadIdx.x counts rows of C. It is uncoalesced on
/// purpose.
///
/// This is 02_naive_coalesced.cu with the axes swapped. The 32 threads of a warp are in 32 different rows, so that
/// their reads of A are lda elements apart and their writes of C are ldc elements apart: each step of k moves 32
/// sectors of 32 bytes and uses one element of each. One result costs 2·k operations and reads 2·k elements (8·k bytes
/// in f32). The sources are the CUDA matmul blog and the SGEMM repository.

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"
#include "dot.cuh"

namespace tessera::cuda {
namespace {

constexpr int tile_m = 32;
constexpr int tile_n = 8;

template <class T>
__global__ void naive_strided(StridedOperands<T> x) {
  const TileOrigin origin = tile_origin(x, tile_m, tile_n);
  const Index i = origin.row + threadIdx.x;
  const Index j = origin.col + threadIdx.y;
  if (i < x.m && j < x.n) compute_element<CanonicalSum<T>>(x, i, j);
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  naive_strided<<<tile_count(call, tile_m, tile_n), dim3(tile_m, tile_n), 0, stream_of(queue)>>>(
      StridedOperands<T>(call));
  return launched("naive_strided");
}

template <class T>
constexpr GemmKernel rung{.name = "naive_strided",
                          .summary = "a thread an element, a warp's threads along a column: uncoalesced on purpose",
                          .source = "CUDA matmul blog; SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {tile_m, tile_n, 1},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .traffic = strided_traffic};

} // namespace

const GemmKernel naive_strided_f32 = rung<float>;
const GemmKernel naive_strided_f64 = rung<double>;

} // namespace tessera::cuda
