/// shared_tile_zero_padded: both operands are copied to storage that is padded to whole tiles, so that no load has a
/// guard.
///
/// The copy reads and writes m·k + k·n elements, and saves two comparisons for each thread and tile. It also undoes the
/// transposes. After the copy, one result costs 2·k operations and reads 2·k/32 elements from global memory (k/4 bytes
/// in f32). The source is the CUDA course.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/copies/repack.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/textbook/rung.hpp"
#include "cuda/queue/scratch.hpp"

namespace tessera::cuda {
namespace {

constexpr int tile = 32;

/// x.a and x.b are the padded copies, whose sizes are multiples of `tile`; x.m and x.n are the sizes of C.
template <class T>
__global__ void __launch_bounds__(tile* tile) shared_tile_zero_padded(StridedOperands<T> x) {
  __shared__ T a_tile[tile][tile];
  __shared__ T b_tile[tile][tile];
  const TileOrigin origin = tile_origin(x, tile, tile);
  const Index i = origin.row + threadIdx.y;
  const Index j = origin.col + threadIdx.x;
  const T* a = x.a + i * x.a_row + threadIdx.x;
  const T* b = x.b + threadIdx.y * x.b_row + j;
  CanonicalSum<T> sum;
  for (Index k0 = 0; k0 < x.k; k0 += tile, a += tile, b += tile * x.b_row) {
    a_tile[threadIdx.y][threadIdx.x] = *a;
    b_tile[threadIdx.y][threadIdx.x] = *b;
    __syncthreads();
    sum.begin(k0);
#pragma unroll
    for (int p = 0; p < tile; ++p) sum.chain = fused(a_tile[threadIdx.y][p], b_tile[p][threadIdx.x], sum.chain);
    __syncthreads(); // all threads have used the tiles
  }
  if (i >= x.m || j >= x.n) return;
  T* const c = x.c + i * x.ldc + j;
  const T scaled = x.alpha * sum.value();
  *c = x.beta == T{0} ? scaled : fused(x.beta, *c, scaled);
}

/// Makes the padded copies and launches the kernel on them.
template <class T>
Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  StridedOperands<T> x(call);
  const Index m = ceil_div<Index>(x.m, tile) * tile;
  const Index n = ceil_div<Index>(x.n, tile) * tile;
  const Index k = ceil_div<Index>(x.k, tile) * tile;
  Scratch padded;
  if (Status status = padded.allocate(executor, queue, static_cast<std::size_t>((m + n) * k) * sizeof(T)); !status.ok())
    return status;
  T* const a = padded.as<T>();
  T* const b = a + m * k;
  repack(stream, StridedMatrix<T>{x.a, x.a_row, x.a_col, x.m, x.k}, a, k, m, k, a_padding<T>);
  repack(stream, StridedMatrix<T>{x.b, x.b_row, x.b_col, x.k, x.n}, b, n, k, n, b_padding<T>);
  x.a = a;
  x.a_row = k;
  x.b = b;
  x.b_row = n;
  shared_tile_zero_padded<<<tile_count(call, tile, tile), dim3(tile, tile), 0, stream>>>(x);
  return launched(kernel.name);
}

template <class T>
constexpr GemmKernel rung{.name = "shared_tile_zero_padded",
                          .summary = "shared_tile_32 on copies padded to whole tiles: no guards in the loop",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .tile = {tile, tile, tile},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .traffic = padded_traffic};

} // namespace

const GemmKernel shared_tile_zero_padded_f32 = rung<float>;
const GemmKernel shared_tile_zero_padded_f64 = rung<double>;

} // namespace tessera::cuda
