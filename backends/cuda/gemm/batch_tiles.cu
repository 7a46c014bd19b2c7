/// Batches of larger products: a grid over the tiles of all products, each by a block as in async_copy.
///
/// Tiles of 64×64 for products that have no more than a few of them, wide ones for those from 128 rows on. A group's
/// transposes are looked up by the block, so that one launch has all four. Operations and bytes are async_copy's. The
/// idea of one grid over unlike problems is CUTLASS's grouped GEMM.

#include "async_copy.cuh"
#include "batch_groups.hpp"
#include "status.hpp"

namespace tessera::cuda {
namespace {

using namespace async_tiling;

/// 32 results a thread, which leaves room for more blocks.
template <class T>
using Middle = warp_tiling::Shape<T, sizeof(T) == 4 ? 2 : 4, sizeof(T) == 4 ? 1 : 2, 2, 2>;

template <class T>
__device__ VectorOperands<T> operands_of(const BatchGroup<T>& x, unsigned number) {
  const auto product = x.product(number);
  VectorOperands<T> y;
  y.m = x.m;
  y.n = x.n;
  y.k = x.k;
  y.a = product.a;
  y.b = product.b;
  y.c = product.c;
  y.a_row = x.flip_a ? 1 : x.lda;
  y.a_col = x.flip_a ? x.lda : 1;
  y.b_row = x.flip_b ? 1 : x.ldb;
  y.b_col = x.flip_b ? x.ldb : 1;
  y.ldc = x.ldc;
  y.alpha = x.alpha;
  y.beta = x.beta;
  y.a_vectors = vectors_allowed(y.a, x.lda);
  y.b_vectors = vectors_allowed(y.b, x.ldb);
  y.c_vectors = vectors_allowed(y.c, x.ldc);
  return y;
}

template <class S, int blocks>
__global__ void __launch_bounds__(S::threads, blocks)
    batch_tiles(const __grid_constant__ BatchGroups<typename S::Element> groups) {
  using T = typename S::Element;
  constexpr int stages = stages_of<T>;
  __shared__ Stages<S, stages> shared;
  const BatchGroup<T>& x = groups.group_of(blockIdx.x);
  const unsigned in_group = blockIdx.x - x.first, tile = in_group % x.tiles;
  const VectorOperands<T> y = operands_of(x, in_group / x.tiles);
  const TileOrigin origin{static_cast<Index>(tile / x.across) * S::block_m,
                          static_cast<Index>(tile % x.across) * S::block_n};
  if (x.flip_a)
    x.flip_b ? multiply_tile_at<S, stages, Along::Outer, Along::K>(y, origin, shared)
             : multiply_tile_at<S, stages, Along::Outer, Along::Outer>(y, origin, shared);
  else
    x.flip_b ? multiply_tile_at<S, stages, Along::K, Along::K>(y, origin, shared)
             : multiply_tile_at<S, stages, Along::K, Along::Outer>(y, origin, shared);
}

} // namespace

template <class T>
Status launch_middle_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept {
  using S = Middle<T>;
  static_assert(middle_tile<T>.m == S::block_m && middle_tile<T>.n == S::block_n);
  batch_tiles<S, sizeof(T) == 4 ? 4 : 3><<<groups.tiles, S::threads, 0, stream>>>(groups);
  return launched("batch_tiles");
}

template <class T>
Status launch_wide_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept {
  using S = Tiles<T>;
  static_assert(wide_tile<T>.m == S::block_m && wide_tile<T>.n == S::block_n);
  batch_tiles<S, 2><<<groups.tiles, S::threads, 0, stream>>>(groups);
  return launched("batch_tiles");
}

template Status launch_middle_batch(cudaStream_t, const BatchGroups<float>&) noexcept;
template Status launch_middle_batch(cudaStream_t, const BatchGroups<double>&) noexcept;
template Status launch_wide_batch(cudaStream_t, const BatchGroups<float>&) noexcept;
template Status launch_wide_batch(cudaStream_t, const BatchGroups<double>&) noexcept;

} // namespace tessera::cuda
