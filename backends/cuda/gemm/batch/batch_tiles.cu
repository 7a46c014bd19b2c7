/// Batches of larger products: a grid over the tiles of all products, each by a block as in async_copy.
///
/// Tiles of 32×32 for the smallest, of a warp; of 64×64 for products that have no more than a few of them; wide ones
/// for those from 128 rows on. In f64 Hopper has batch_dmma.cu for all of them. A group's transposes are looked up by
/// the block, so that one launch has all four. Operations and bytes are async_copy's. The idea of one grid over unlike
/// problems is CUTLASS's grouped GEMM.

#include "batch_operands.cuh"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/async_copy_tile.cuh"

namespace tessera::cuda {
namespace {

using namespace async_tiling;

template <class T>
using Quarter = warp_tiling::Shape<T, sizeof(T) == 4 ? 2 : 4, sizeof(T) == 4 ? 1 : 2, 1, 1>;
/// 32 results a thread, which leaves room for more blocks.
template <class T>
using Middle = warp_tiling::Shape<T, sizeof(T) == 4 ? 2 : 4, sizeof(T) == 4 ? 1 : 2, 2, 2>;

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
  if (x.transpose_a)
    x.transpose_b ? multiply_tile_at<S, stages, Along::Outer, Along::K>(y, origin, shared)
                  : multiply_tile_at<S, stages, Along::Outer, Along::Outer>(y, origin, shared);
  else
    x.transpose_b ? multiply_tile_at<S, stages, Along::K, Along::K>(y, origin, shared)
                  : multiply_tile_at<S, stages, Along::K, Along::Outer>(y, origin, shared);
}

template <class S, int blocks, BatchTile tile>
Status launch(cudaStream_t stream, const BatchGroups<typename S::Element>& groups) noexcept {
  static_assert(tile.m == S::block_m && tile.n == S::block_n);
  batch_tiles<S, blocks><<<groups.tiles, S::threads, 0, stream>>>(groups);
  return launched("batch_tiles");
}

} // namespace

template <class T>
Status launch_quarter_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept {
  return launch<Quarter<T>, 16, quarter_tile<T>>(stream, groups);
}

template <class T>
Status launch_middle_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept {
  return launch<Middle<T>, (sizeof(T) == 4 ? 4 : 3), middle_tile<T>>(stream, groups);
}

template <class T>
Status launch_wide_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept {
  return launch<Tiles<T>, 2, wide_tile<T>>(stream, groups);
}

template Status launch_quarter_batch(cudaStream_t, const BatchGroups<float>&) noexcept;
template Status launch_middle_batch(cudaStream_t, const BatchGroups<float>&) noexcept;
template Status launch_middle_batch(cudaStream_t, const BatchGroups<double>&) noexcept;
template Status launch_wide_batch(cudaStream_t, const BatchGroups<float>&) noexcept;
template Status launch_wide_batch(cudaStream_t, const BatchGroups<double>&) noexcept;

} // namespace tessera::cuda
