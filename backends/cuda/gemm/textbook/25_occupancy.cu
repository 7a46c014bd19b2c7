/// occupancy_1, occupancy_3: tile_2d_register in two copies that differ in their launch bounds alone.
///
/// The bound is the number of blocks of 256 threads that a multiprocessor has to hold, and the compiler cuts the
/// registers of a thread to fit: with one block a thread may have 255 of them, with three 80. More blocks hide more of
/// the latency of the loads; fewer registers spill the 64 sums to local memory. gemm_compare shows registers, local
/// memory and occupancy beside the times. One result costs 2·k operations and reads 2·k/128 elements from global memory
/// (k/16 bytes in f32), as in 11_tile_2d_register.cu. The source is the kernel walkthrough (its fifth level).

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

template <class T, int blocks>
__global__ void __launch_bounds__(threads, blocks) occupancy(StridedOperands<T> x) {
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
#pragma unroll
    for (int p = 0; p < tile_k; ++p) {
      T a_fragment[side<T>], b_fragment[side<T>];
#pragma unroll
      for (int i = 0; i < side<T>; ++i) a_fragment[i] = a_tile.at[row + i][p];
#pragma unroll
      for (int j = 0; j < side<T>; ++j) b_fragment[j] = b_tile.at[p][col + j * threads_across];
      sums.extend(a_fragment, b_fragment);
    }
    __syncthreads();
  }
  sums.finish(x.k, totals);
  store_scattered<threads_across>(x, origin.row + row, origin.col + col, sums);
}

template <class T, int blocks>
Status run(const GemmKernel& row, Executor&, Queue& queue, const GemmCall& call) noexcept {
  occupancy<T, blocks><<<tile_count(call, tile<T>, tile<T>), threads, 0, stream_of(queue)>>>(StridedOperands<T>(call));
  return launched(row.name);
}

template <class T, int blocks>
constexpr GemmKernel row{.name = blocks == 1 ? "occupancy_1" : "occupancy_3",
                         .summary = "tile_2d_register bound to a number of blocks a multiprocessor",
                         .source = "kernel walkthrough",
                         .type = dtype_of<T>,
                         .tile = {tile<T>, tile<T>, tile_k},
                         .summation = Summation::Canonical,
                         .run = run<T, blocks>,
                         .traffic = tile_traffic};

} // namespace

const GemmKernel occupancy_1_f32 = row<float, 1>;
const GemmKernel occupancy_1_f64 = row<double, 1>;
const GemmKernel occupancy_3_f32 = row<float, 3>;
const GemmKernel occupancy_3_f64 = row<double, 3>;

} // namespace tessera::cuda
