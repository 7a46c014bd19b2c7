/// tile_2d_register: tile_2d with the operands of an outer product in registers, and the loop over the steps of k
/// unrolled.
///
/// Sixteen shared reads feed 64 FMAs, a quarter of a read for each. In the unrolled loop the reads of the next step run
/// while this step computes, and A's elements for four steps of k are one read. The columns of a thread are 16 apart,
/// so that a warp reads neighbours. One result costs 2·k operations and reads 2·k/128 elements from global memory (k/16
/// bytes in f32), as in 09_tile_2d.cu. The source is the SGEMM repository.
///
/// occupancy_1 and occupancy_3 are the same kernel with other launch bounds. The bound is the number of blocks of 256
/// threads that a multiprocessor has to hold, here two, and the compiler cuts the registers of a thread to fit: with
/// one block a thread may have 255 of them, with three 80. More blocks hide more of the latency of the loads; fewer
/// registers spill the 64 sums to local memory. gemm_compare shows registers, local memory and occupancy beside the
/// times. Their source is the kernel walkthrough (its fifth level).

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
__global__ void __launch_bounds__(threads, blocks) tile_2d_register(StridedOperands<T> x) {
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
Status run(const GemmKernel& kernel, Executor&, Queue& queue, const GemmCall& call) noexcept {
  tile_2d_register<T, blocks>
      <<<tile_count(call, tile<T>, tile<T>), threads, 0, stream_of(queue)>>>(StridedOperands<T>(call));
  return launched(kernel.name);
}

template <class T, int blocks>
constexpr GemmKernel rung_of(const char* name, const char* summary, const char* source) {
  return {.name = name,
          .summary = summary,
          .source = source,
          .type = dtype_of<T>,
          .tile = {tile<T>, tile<T>, tile_k},
          .summation = Summation::Canonical,
          .run = run<T, blocks>,
          .traffic = tile_traffic};
}

template <class T>
constexpr GemmKernel rung = rung_of<T, 2>("tile_2d_register",
                                          "8x8 results a thread, the operands of an outer product in registers",
                                          "SGEMM repository");
template <class T, int blocks>
constexpr GemmKernel bound_rung = rung_of<T, blocks>(blocks == 1 ? "occupancy_1" : "occupancy_3",
                                                     "tile_2d_register bound to a number of blocks a multiprocessor",
                                                     "kernel walkthrough");

} // namespace

const GemmKernel tile_2d_register_f32 = rung<float>;
const GemmKernel tile_2d_register_f64 = rung<double>;
const GemmKernel occupancy_1_f32 = bound_rung<float, 1>;
const GemmKernel occupancy_1_f64 = bound_rung<double, 1>;
const GemmKernel occupancy_3_f32 = bound_rung<float, 3>;
const GemmKernel occupancy_3_f64 = bound_rung<double, 3>;

} // namespace tessera::cuda
