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

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/textbook/rung.hpp"

namespace tessera::cuda {
namespace {

constexpr int threads_across = 16;
constexpr int threads = threads_across * threads_across;
constexpr int tile_k = 8;
template <class T>
constexpr int side = 32 / sizeof(T); ///< results of one thread along each side
template <class T>
constexpr int tile = threads_across* side<T>;

/// Copies the tile of x that starts at (first_row, first_col) to shared memory, with padding where it reaches over an
/// edge. Neighbouring threads of a warp read neighbours in memory: they go along the tile's rows, or down its columns
/// if x is stored transposed.
template <int threads, int cols, class T, int rows, int ld>
__device__ void load_tile(T (&tile)[rows][ld], const StridedMatrix<T>& x, Index first_row, Index first_col, T padding) {
  static_assert(rows * cols % threads == 0 && threads % rows == 0 && threads % cols == 0);
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const bool along_row = x.col_stride == 1;
  const int rows_left = static_cast<int>(x.rows - first_row < rows ? x.rows - first_row : rows);
  const int cols_left = static_cast<int>(x.cols - first_col < cols ? x.cols - first_col : cols);
  // The block reads `step` lines of neighbours at once, line by line of memory.
  const int length = along_row ? cols : rows;
  const int step = threads / length;
  const int across = thread % length, across_left = along_row ? cols_left : rows_left;
  const int down = thread / length, down_left = along_row ? rows_left : cols_left;
  const Index stride = along_row ? x.row_stride : x.col_stride;
  const T* const from = x.data + first_row * x.row_stride + first_col * x.col_stride + down * stride + across;
  T* const to = along_row ? &tile[down][across] : &tile[across][down];
  const int to_step = along_row ? step * ld : step;
#pragma unroll
  for (int v = 0; v < rows * cols / threads; ++v) {
    const bool inside = across < across_left && down + v * step < down_left;
    to[v * to_step] = inside ? from[v * step * stride] : padding;
  }
}

template <class T, int blocks>
__global__ void __launch_bounds__(threads, blocks) tile_2d_register(StridedOperands<T> x) {
  __shared__ T a_tile[tile<T>][tile_k];
  __shared__ T b_tile[tile_k][tile<T>];
  const TileOrigin origin = tile_origin(x, tile<T>, tile<T>);
  const int row = static_cast<int>(threadIdx.x) / threads_across * side<T>;
  const int col = static_cast<int>(threadIdx.x) % threads_across; // the first of the columns, which are 16 apart
  CanonicalTile<T, side<T>, side<T>> sums;
  typename decltype(sums)::Totals totals(x.k);
  for (Index k0 = 0; k0 < x.k; k0 += tile_k) {
    load_tile<threads, tile_k>(a_tile, a_matrix(x), origin.row, k0, a_padding<T>);
    load_tile<threads, tile<T>>(b_tile, b_matrix(x), k0, origin.col, b_padding<T>);
    __syncthreads();
    sums.begin(k0, totals);
#pragma unroll
    for (int p = 0; p < tile_k; ++p) {
      T a_fragment[side<T>], b_fragment[side<T>];
#pragma unroll
      for (int r = 0; r < side<T>; ++r) a_fragment[r] = a_tile[row + r][p];
#pragma unroll
      for (int s = 0; s < side<T>; ++s) b_fragment[s] = b_tile[p][col + s * threads_across];
#pragma unroll
      for (int r = 0; r < side<T>; ++r)
#pragma unroll
        for (int s = 0; s < side<T>; ++s) sums.at(r, s) = fused(a_fragment[r], b_fragment[s], sums.at(r, s));
    }
    __syncthreads(); // all threads have used the tiles
  }
  sums.finish(x.k, totals);
  const Index i = origin.row + row;
  const Index j = origin.col + col;
#pragma unroll
  for (int r = 0; r < side<T>; ++r)
#pragma unroll
    for (int s = 0; s < side<T>; ++s)
      if (i + r < x.m && j + s * threads_across < x.n) {
        T* const c = x.c + (i + r) * x.ldc + j + s * threads_across;
        const T scaled = sums.value(r, s) * x.alpha;
        *c = x.beta == T{0} ? scaled : fused(x.beta, *c, scaled);
      }
}

template <class T, int blocks>
void launch(const GemmCall& call, cudaStream_t stream) {
  tile_2d_register<T, blocks><<<tile_count(call, tile<T>, tile<T>), threads, 0, stream>>>(StridedOperands<T>(call));
}

template <class T, int blocks>
constexpr GemmKernel rung_of(const char* name, const char* summary, const char* source) {
  return {.name = name,
          .summary = summary,
          .source = source,
          .type = dtype_of<T>,
          .tile = {tile<T>, tile<T>, tile_k},
          .summation = Summation::Canonical,
          .run = run_launch<launch<T, blocks>>,
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
