#pragma once

/// Finds the product and the tile that a block or a warp of a batch's kernel has to compute.

#include "cuda/gemm/common/ceil_div.hpp"
#include "groups.hpp"

namespace tessera::cuda {

/// A product whose rows are found on the device, in shared memory.
template <class T, class R>
struct FoundProduct {
  alignas(BatchGroup<T, R>) unsigned char group[sizeof(BatchGroup<T, R>)];
  unsigned tile;
  bool found;

  __device__ BatchGroup<T, R>& product() { return *reinterpret_cast<BatchGroup<T, R>*>(group); }
};

template <class T, class R>
struct TileOfBatch {
  const BatchGroup<T, R>* group;
  unsigned product, tile;
};

/// Finds the product with tile `number`, where the products' rows end at numbers in memory. All lanes of a warp call
/// it; each looks at one product of 32.
template <class T, class R>
__device__ void find_by_ends(const BatchGroups<T, R>& groups, unsigned number, Index tile_m, FoundProduct<T, R>& to) {
  const BatchGroup<T, R>& all = groups.here[0];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Index before = 0, tiles_before = 0; // rows and tiles of the products before these 32
  for (int first = 0; first < groups.products; first += 32) {
    const int product = first + lane;
    Index end = product < groups.products ? groups.ends.at(product) : 0;
    end = min(max(end, before), all.m);
    // The largest end so far, in case that ends do not ascend.
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const Index other = __shfl_up_sync(~0U, end, step);
      if (lane >= step) end = max(end, other);
    }
    Index begin = __shfl_up_sync(~0U, end, 1);
    if (lane == 0) begin = before;
    const Index own_tiles = ceil_div<Index>(end - begin, tile_m) * all.across;
    Index tiles = own_tiles; // up to this product's last one
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const Index other = __shfl_up_sync(~0U, tiles, step);
      if (lane >= step) tiles += other;
    }
    const unsigned reached = __ballot_sync(~0U, number < tiles_before + tiles);
    if (reached != 0) {
      if (lane != __ffs(static_cast<int>(reached)) - 1) return;
      BatchGroup<T, R>& x = to.product();
      x = all;
      x.m = end - begin;
      x.a += begin * (x.transpose_a ? 1 : x.lda);
      x.b += product * x.stride_b;
      x.c += begin * x.ldc;
      to.tile = number - static_cast<unsigned>(tiles_before + tiles - own_tiles);
      to.found = true;
      return;
    }
    before = __shfl_sync(~0U, end, 31);
    tiles_before += __shfl_sync(~0U, tiles, 31);
  }
  if (lane == 0) to.found = false;
}

/// Finds tile `number` of the launch, which all threads of a block or of a warp share. Returns false where there is
/// none. `found` is shared memory of the block or the warp.
template <bool of_block, class T, class R>
__device__ bool find_tile(const BatchGroups<T, R>& groups, unsigned number, Index tile_m, FoundProduct<T, R>& found,
                          TileOfBatch<T, R>& to) {
  if (groups.ends.data == nullptr) [[likely]] {
    const BatchGroup<T, R>& x = groups.group_of(number);
    const unsigned in_group = number - x.first;
    to = {&x, in_group / x.tiles, in_group % x.tiles};
    return true;
  }
  if (!of_block || threadIdx.x < 32) find_by_ends(groups, number, tile_m, found);
  if constexpr (of_block)
    __syncthreads();
  else
    __syncwarp();
  to = {&found.product(), 0, found.tile};
  return found.found;
}

} // namespace tessera::cuda
