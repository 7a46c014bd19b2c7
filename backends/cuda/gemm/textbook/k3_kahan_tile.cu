/// kahan_tile: shared_tile_32 with compensated summation.
///
/// Each product takes four dependent operations instead of one FMA, while 06_shared_tile.cu waits for shared memory.
/// One result reads 2·k/32 elements from global memory (k/4 bytes in f32). The error is about 2u·Σ|a·b| for every k,
/// where u is the unit roundoff. The source is the CUDA course.

#include <cmath>

#include <tessera/backend/traffic.hpp>

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/textbook/rung.hpp"

namespace tessera::cuda {
namespace {

constexpr int tile = 32;

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

/// The sum of one result, and its excess: what the last addition rounded away, which the next product makes up for.
/// Inf − Inf would turn an infinite sum into NaN, so that an infinite sum has no excess.
template <class T>
struct KahanSum {
  T value{0};
  T excess{0};

  __device__ void extend(T a, T b) {
    const T term = fused(a, b, -excess);
    const T sum = value + term;
    excess = isfinite(sum) ? (sum - value) - term : T{0};
    value = sum;
  }
};

template <class T>
__global__ void __launch_bounds__(tile* tile) kahan_tile(StridedOperands<T> x) {
  __shared__ T a_tile[tile][tile];
  __shared__ T b_tile[tile][tile];
  const TileOrigin origin = tile_origin(x, tile, tile);
  KahanSum<T> sum;
  for (Index k0 = 0; k0 < x.k; k0 += tile) {
    load_tile<tile * tile, tile>(a_tile, a_matrix(x), origin.row, k0, a_padding<T>);
    load_tile<tile * tile, tile>(b_tile, b_matrix(x), k0, origin.col, b_padding<T>);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < tile; ++p) sum.extend(a_tile[threadIdx.y][p], b_tile[p][threadIdx.x]);
    __syncthreads(); // all threads have used the tiles
  }
  const Index i = origin.row + threadIdx.y;
  const Index j = origin.col + threadIdx.x;
  if (i >= x.m || j >= x.n) return;
  T* const c = x.c + i * x.ldc + j;
  const T scaled = x.alpha * sum.value;
  *c = x.beta == T{0} ? scaled : fused(x.beta, *c, scaled);
}

template <class T>
void launch(const GemmCall& call, cudaStream_t stream) {
  kahan_tile<<<tile_count(call, tile, tile), dim3(tile, tile), 0, stream>>>(StridedOperands<T>(call));
}

template <class T>
constexpr GemmKernel rung{.name = "kahan_tile",
                          .summary = "shared_tile_32 with Kahan's compensated summation",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .math = Math::Compensated,
                          .tile = {tile, tile, tile},
                          .run = run_launch<launch<T>>,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel kahan_tile_f32 = rung<float>;
const GemmKernel kahan_tile_f64 = rung<double>;

} // namespace tessera::cuda
