/// tile_1d: each thread computes eight results, down a column of C.
///
/// A thread reads an element of B once from shared memory and uses it from a register for eight FMAs; the eight
/// elements of A are broadcasts. As the code is written, that is 9 shared reads for 8 FMAs, where 06_shared_tile.cu has
/// 16. The compiler reads A's elements for four steps of k at once, which leaves 3 reads for 8 FMAs. Tiles are 64×64×8:
/// one result costs 2·k operations and reads 2·k/64 elements from global memory (k/8 bytes in f32). The source is the
/// SGEMM repository.

#include <tessera/backend/traffic.hpp>

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/textbook/rung.hpp"

namespace tessera::cuda {
namespace {

constexpr int tile_m = 64;
constexpr int tile_n = 64;
constexpr int tile_k = 8;
constexpr int rows = 8; ///< results of one thread
constexpr int threads = tile_m * tile_n / rows;

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

template <class T>
__global__ void __launch_bounds__(threads, 8 / sizeof(T)) tile_1d(StridedOperands<T> x) {
  __shared__ T a_tile[tile_m][tile_k];
  __shared__ T b_tile[tile_k][tile_n];
  const TileOrigin origin = tile_origin(x, tile_m, tile_n);
  const int row = static_cast<int>(threadIdx.x) / tile_n * rows;
  const int col = static_cast<int>(threadIdx.x) % tile_n;
  CanonicalTile<T, rows, 1> sums;
  typename decltype(sums)::Totals totals(x.k);
  for (Index k0 = 0; k0 < x.k; k0 += tile_k) {
    load_tile<threads, tile_k>(a_tile, a_matrix(x), origin.row, k0, a_padding<T>);
    load_tile<threads, tile_n>(b_tile, b_matrix(x), k0, origin.col, b_padding<T>);
    __syncthreads();
    sums.begin(k0, totals);
#pragma unroll 4
    for (int p = 0; p < tile_k; ++p) {
      const T b = b_tile[p][col];
#pragma unroll
      for (int r = 0; r < rows; ++r) sums.at(r, 0) = fused(a_tile[row + r][p], b, sums.at(r, 0));
    }
    __syncthreads(); // all threads have used the tiles
  }
  sums.finish(x.k, totals);
  const Index j = origin.col + col;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const Index i = origin.row + row + r;
    if (i < x.m && j < x.n) {
      T* const c = x.c + i * x.ldc + j;
      const T scaled = x.alpha * sums.value(r, 0);
      *c = x.beta == T{0} ? scaled : fused(x.beta, *c, scaled);
    }
  }
}

template <class T>
void launch(const GemmCall& call, cudaStream_t stream) {
  tile_1d<<<tile_count(call, tile_m, tile_n), threads, 0, stream>>>(StridedOperands<T>(call));
}

template <class T>
constexpr GemmKernel rung{.name = "tile_1d",
                          .summary = "eight results a thread down a column: B's element stays in a register",
                          .source = "SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {tile_m, tile_n, tile_k},
                          .summation = Summation::Canonical,
                          .run = run_launch<launch<T>>,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel tile_1d_f32 = rung<float>;
const GemmKernel tile_1d_f64 = rung<double>;

} // namespace tessera::cuda
