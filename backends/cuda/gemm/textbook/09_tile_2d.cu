/// tile_2d: each thread computes 8×8 results (4×4 in f64), an outer product in each step of k. The operands are read
/// from shared memory for each FMA.
///
/// A block of 256 threads covers 128×128 results (64×64 in f64): one result costs 2·k operations and reads 2·k/128
/// elements from global memory (k/16 bytes in f32), half of what 08_tile_1d.cu reads. As written, an FMA reads shared
/// memory twice. Nothing is written to shared memory in between, so that the compiler keeps an operand in a register
/// for one step of the rolled loop: 16 shared reads serve 64 FMAs. The source is the SGEMM repository.

#include <tessera/backend/traffic.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"
#include "guarded_tile.cuh"

namespace tessera::cuda {
namespace {

constexpr int threads_across = 16;
constexpr int threads = threads_across * threads_across;
constexpr int tile_k = 8;
template <class T>
constexpr int side = 32 / sizeof(T); ///< results of one thread along each side
template <class T>
constexpr int tile = threads_across* side<T>;

template <class T>
__global__ void __launch_bounds__(threads, 2) tile_2d(StridedOperands<T> x) {
  __shared__ PaddedTile<T, tile<T>, tile_k> a_tile;
  __shared__ PaddedTile<T, tile_k, tile<T>> b_tile;
  const TileOrigin origin = tile_origin(x, tile<T>, tile<T>);
  const int row = static_cast<int>(threadIdx.x) / threads_across * side<T>;
  const int col = static_cast<int>(threadIdx.x) % threads_across; // the first of the columns, which are 16 apart
  CanonicalTile<T, side<T>, side<T>> sums;
  typename decltype(sums)::Totals totals(x.k);
  for (Index k0 = 0; k0 < x.k; k0 += tile_k) {
    load_tile<threads>(a_tile, a_matrix(x), origin.row, k0, a_padding<T>);
    load_tile<threads>(b_tile, b_matrix(x), k0, origin.col, b_padding<T>);
    __syncthreads();
    sums.begin(k0, totals);
#pragma unroll 1
    for (int p = 0; p < tile_k; ++p)
#pragma unroll
      for (int i = 0; i < side<T>; ++i)
#pragma unroll
        for (int j = 0; j < side<T>; ++j)
          sums.extend(i, j, a_tile.at[row + i][p], b_tile.at[p][col + j * threads_across]);
    __syncthreads();
  }
  sums.finish(x.k, totals);
  store_scattered<threads_across>(x, origin.row + row, origin.col + col, sums);
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  tile_2d<<<tile_count(call, tile<T>, tile<T>), threads, 0, stream_of(queue)>>>(StridedOperands<T>(call));
  return launched("tile_2d");
}

template <class T>
constexpr GemmKernel rung{.name = "tile_2d",
                          .summary = "8x8 results a thread, operands read from shared memory for each FMA",
                          .source = "SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {tile<T>, tile<T>, tile_k},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel tile_2d_f32 = rung<float>;
const GemmKernel tile_2d_f64 = rung<double>;

} // namespace tessera::cuda
