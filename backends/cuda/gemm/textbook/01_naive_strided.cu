/// naive_strided: a thread an element of C, threadIdx.x along its rows. Uncoalesced on purpose.
///
/// The twin of naive_coalesced with the axes swapped: a warp's 32 reads of A lie lda apart, and so do its writes of C,
/// so that every step moves 32 sectors to use 4 bytes of each. 2·m·n·k operations; k of A and k of B read an element.
/// CUDA matmul blog: 7.5 times slower than naive_coalesced on a GTX 1080; SGEMM repository.

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"
#include "dot.cuh"
#include "traffic.hpp"

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
constexpr GemmKernel row{.name = "naive_strided",
                         .summary = "a thread an element, a warp's threads along a column: uncoalesced on purpose",
                         .source = "CUDA matmul blog; SGEMM repository",
                         .type = dtype_of<T>,
                         .tile = {tile_m, tile_n, 1},
                         .summation = Summation::Canonical,
                         .run = run<T>,
                         .traffic = strided_traffic};

} // namespace

const GemmKernel naive_strided_f32 = row<float>;
const GemmKernel naive_strided_f64 = row<double>;

} // namespace tessera::cuda
