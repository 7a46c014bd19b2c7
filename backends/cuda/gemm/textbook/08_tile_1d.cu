/// tile_1d: each thread computes eight results, down a column of C.
///
/// A thread reads an element of B once from shared memory and uses it from a register for eight FMAs; the eight
/// elements of A are broadcasts. As the code is written, that is 9 shared reads for 8 FMAs, where 06_shared_tile.cu has
/// 16. The compiler reads A's elements for four steps of k at once, which leaves 3 reads for 8 FMAs. Tiles are 64×64×8:
/// one result costs 2·k operations and reads 2·k/64 elements from global memory (k/8 bytes in f32). The source is the
/// SGEMM repository.

#include <tessera/backend/traffic.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"
#include "guarded_tile.cuh"

namespace tessera::cuda {
namespace {

constexpr int tile_m = 64;
constexpr int tile_n = 64;
constexpr int tile_k = 8;
constexpr int rows = 8; ///< results of one thread
constexpr int threads = tile_m * tile_n / rows;

template <class T>
__global__ void __launch_bounds__(threads, 8 / sizeof(T)) tile_1d(StridedOperands<T> x) {
  __shared__ PaddedTile<T, tile_m, tile_k> a_tile;
  __shared__ PaddedTile<T, tile_k, tile_n> b_tile;
  const TileOrigin origin = tile_origin(x, tile_m, tile_n);
  const int row = static_cast<int>(threadIdx.x) / tile_n * rows;
  const int col = static_cast<int>(threadIdx.x) % tile_n;
  CanonicalTile<T, rows, 1> sums;
  typename decltype(sums)::Totals totals(x.k);
  for (Index k0 = 0; k0 < x.k; k0 += tile_k) {
    load_tile<threads>(a_tile, a_matrix(x), origin.row, k0, a_padding<T>);
    load_tile<threads>(b_tile, b_matrix(x), k0, origin.col, b_padding<T>);
    __syncthreads();
    sums.begin(k0, totals);
#pragma unroll 4
    for (int p = 0; p < tile_k; ++p) {
      const T b = b_tile.at[p][col];
#pragma unroll
      for (int i = 0; i < rows; ++i) sums.extend(i, 0, a_tile.at[row + i][p], b);
    }
    __syncthreads();
  }
  sums.finish(x.k, totals);
  const Index j = origin.col + col;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const Index i = origin.row + row + r;
    if (i < x.m && j < x.n) store_result(x.c + i * x.ldc + j, sums.value(r, 0), x.alpha, x.beta);
  }
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  tile_1d<<<tile_count(call, tile_m, tile_n), threads, 0, stream_of(queue)>>>(StridedOperands<T>(call));
  return launched("tile_1d");
}

template <class T>
constexpr GemmKernel rung{.name = "tile_1d",
                          .summary = "eight results a thread down a column: B's element stays in a register",
                          .source = "SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {tile_m, tile_n, tile_k},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel tile_1d_f32 = rung<float>;
const GemmKernel tile_1d_f64 = rung<double>;

} // namespace tessera::cuda
