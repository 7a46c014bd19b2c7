#pragma once

/// Square tiles of operands that are copied to storage padded to whole tiles, so that no load has a guard.
/// shared_tile_zero_padded and kahan_tile_zero_padded share this and differ in `Sum`.

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/copies/repack.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda::zero_padded_tile {

constexpr int tile = 32;

/// x.a and x.b are the padded copies, whose sizes are multiples of `tile`; x.m and x.n are the sizes of C.
template <class T, class Sum>
__global__ void __launch_bounds__(tile* tile) tiles(StridedOperands<T> x) {
  __shared__ T a_tile[tile][tile];
  __shared__ T b_tile[tile][tile];
  const TileOrigin origin = tile_origin(x, tile, tile);
  const Index i = origin.row + threadIdx.y;
  const Index j = origin.col + threadIdx.x;
  const T* a = x.a + i * x.a_row + threadIdx.x;
  const T* b = x.b + threadIdx.y * x.b_row + j;
  Sum sum;
  for (Index k0 = 0; k0 < x.k; k0 += tile, a += tile, b += tile * x.b_row) {
    a_tile[threadIdx.y][threadIdx.x] = *a;
    b_tile[threadIdx.y][threadIdx.x] = *b;
    __syncthreads();
    sum.begin(k0);
#pragma unroll
    for (int p = 0; p < tile; ++p) sum.extend(a_tile[threadIdx.y][p], b_tile[p][threadIdx.x]);
    __syncthreads();
  }
  if (i < x.m && j < x.n) store_result(x.c + i * x.ldc + j, sum.value(), x.alpha, x.beta);
}

template <class T, class Sum>
Status run(const GemmKernel& row, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
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
  tiles<T, Sum><<<tile_count(call, tile, tile), dim3(tile, tile), 0, stream>>>(x);
  return launched(row.name);
}

} // namespace tessera::cuda::zero_padded_tile
