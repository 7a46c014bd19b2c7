#pragma once

/// Square tiles of both operands in shared memory, and one result a thread. shared_tile (no pad),
/// shared_tile_bank_padded (pad 1) and kahan_tile (another `Sum`) share this.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/operands.cuh"
#include "cuda/queue/stream.hpp"
#include "guarded_tile.cuh"

namespace tessera::cuda::square_tile {

template <class T, class Sum, int tile, int pad>
__global__ void __launch_bounds__(tile* tile) tiles(StridedOperands<T> x) {
  __shared__ PaddedTile<T, tile, tile, pad> a_tile;
  __shared__ PaddedTile<T, tile, tile, pad> b_tile;
  const TileOrigin origin = tile_origin(x, tile, tile);
  Sum sum;
  for (Index k0 = 0; k0 < x.k; k0 += tile) {
    load_tile<tile * tile>(a_tile, a_matrix(x), origin.row, k0, a_padding<T>);
    load_tile<tile * tile>(b_tile, b_matrix(x), k0, origin.col, b_padding<T>);
    __syncthreads();
    sum.begin(k0);
#pragma unroll
    for (int p = 0; p < tile; ++p) sum.extend(a_tile.at[threadIdx.y][p], b_tile.at[p][threadIdx.x]);
    __syncthreads();
  }
  const Index i = origin.row + threadIdx.y;
  const Index j = origin.col + threadIdx.x;
  if (i < x.m && j < x.n) store_result(x.c + i * x.ldc + j, sum.value(), x.alpha, x.beta);
}

template <class T, class Sum, int tile, int pad>
void launch(Queue& queue, const GemmCall& call) {
  tiles<T, Sum, tile, pad>
      <<<tile_count(call, tile, tile), dim3(tile, tile), 0, stream_of(queue)>>>(StridedOperands<T>(call));
}

} // namespace tessera::cuda::square_tile
