#pragma once

/// Finds the product and the tile that a block or a warp of a batch's kernel has to compute.

#include "cuda/gemm/common/products_by_ends.cuh"
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
/// it.
template <class T, class R>
__device__ void find_by_ends(const BatchGroups<T, R>& groups, unsigned number, Index tile_m, FoundProduct<T, R>& to) {
  const BatchGroup<T, R>& all = groups.here[0];
  ProductsByEnds products(groups.ends, groups.products, all.m, tile_m, all.across);
  const FoundTile found = products.find(number);
  if (threadIdx.x % 32 != 0) return;
  to.found = found.product >= 0;
  if (!to.found) return;
  BatchGroup<T, R>& x = to.product();
  x = all;
  x.m = found.end - found.begin;
  x.a += found.begin * (x.transpose_a ? 1 : x.lda);
  x.b += found.product * x.stride_b;
  x.c += found.begin * x.ldc;
  to.tile = found.tile;
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
