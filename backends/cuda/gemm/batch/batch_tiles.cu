/// Batches of larger products: the grid covers the tiles of all products, and each block computes a tile as in
/// async_copy.
///
/// Tiles are 32×32 for one warp, for the smallest products; 64×64 for products that have few such tiles; and wide for
/// products from 128 rows and columns on (f64: 64 rows). In f64 on Hopper, batch_dmma.cu takes the 32×32 tiles and the
/// products that would have wide ones. A block looks up the transposes of its group, so that one launch has all four
/// combinations. One result of a tile of m×n costs 2·k operations and reads k/m + k/n elements. Source: CUTLASS's
/// grouped GEMM, which has one grid over unlike problems.

#include "batch_operands.cuh"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/async_copy_tile.cuh"
#include "tile_of_batch.cuh"

namespace tessera::cuda {
namespace {

using namespace async_tiling;

template <class T>
using Quarter = warp_tiling::Shape<T, sizeof(T) == 4 ? 2 : 4, sizeof(T) == 4 ? 1 : 2, 1, 1>;
/// A thread has 32 results, which leaves room for more blocks on a multiprocessor.
template <class T>
using Middle = warp_tiling::Shape<T, sizeof(T) == 4 ? 2 : 4, sizeof(T) == 4 ? 1 : 2, 2, 2>;

template <class S, int blocks>
__global__ void __launch_bounds__(S::threads, blocks)
    batch_tiles(const __grid_constant__ BatchGroups<typename S::Element> groups) {
  using T = typename S::Element;
  constexpr int stages = stages_of<T>;
  __shared__ Stages<S, stages> shared;
  __shared__ FoundProduct<T, T> found;
  TileOfBatch<T, T> here;
  if (!find_tile<true>(groups, blockIdx.x, S::block_m, found, here)) return;
  const BatchGroup<T>& x = *here.group;
  const unsigned tile = here.tile;
  const VectorOperands<T> y = operands_of(x, here.product);
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
