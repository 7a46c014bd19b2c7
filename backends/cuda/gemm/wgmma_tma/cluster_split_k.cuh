#pragma once

/// Cluster split-k. The blocks of a cluster each sum one segment of k of one tile, and send their sums to the block
/// that adds them in ascending order, to the shared memory after the ring, which has fewer stages for it. Nothing else
/// is written there before all sums have arrived, so a sending block need not ask. No sums go to memory, and no second
/// kernel adds them. It serves products of few
/// tiles. Source: PTX ISA, "Distributed shared memory".

#include "cuda/gemm/common/cluster_send.cuh"
#include "segment_total.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Says which block adds a warp's rows of a tile. Each of two or four blocks adds the rows of some warps.
template <class S>
struct WarpsToAdd {
  static constexpr int bytes = 16 * S::columns * static_cast<int>(sizeof(float)); ///< of a warp's sums
  static_assert(consumers * 4 * bytes <= 2 * static_cast<int>(S::bytes));         ///< what stages_of() leaves is enough
  int each;                                                                       ///< warps whose rows a block adds
  int block, number; ///< the block, and the position of the rows among the rows that the block adds

  __device__ WarpsToAdd(int warp, int k_parts)
      : each(consumers * 4 / k_parts), block(warp / each), number(warp % each) {}
};

/// Sets how many bytes the barrier waits for. One thread calls it, before a barrier of the cluster.
template <class S>
__device__ void expect_cluster_parts(const TmaProduct& x, Arrivals& arrivals) {
  arrivals.start(WarpsToAdd<S>(0, x.k_parts).each * (x.k_parts - 1) * WarpsToAdd<S>::bytes);
}

/// Copies a warp's sums. It is called after the products and in no branch: otherwise ptxas would wait for products
/// that may use the registers of the copy.
template <int count>
__device__ void take_sums(const float (&sum)[count], float (&mine)[count]) {
#pragma unroll
  for (int e = 0; e < count; ++e) {
    mine[e] = sum[e];
    asm volatile("" : "+f"(mine[e]));
  }
}
template <int count>
__device__ float4 group(const float (&sums)[count], int g) {
  return {sums[g * 4], sums[g * 4 + 1], sums[g * 4 + 2], sums[g * 4 + 3]};
}
/// Adds group g of a part's sums; `first` says that it is the first part, which is copied.
template <int count>
__device__ void add_group(float (&all)[count], int g, const float4& more, bool first) {
  all[g * 4] = first ? more.x : all[g * 4] + more.x;
  all[g * 4 + 1] = first ? more.y : all[g * 4 + 1] + more.y;
  all[g * 4 + 2] = first ? more.z : all[g * 4 + 2] + more.z;
  all[g * 4 + 3] = first ? more.w : all[g * 4 + 3] + more.w;
}

/// Adds up a warp's 16 rows of a tile into `all`. Returns false where another block adds and stores these rows. `sums`
/// is the memory after the ring, which has no other use at that time. `all` is not `sum`, because ptxas would wait for
/// products that may use those registers.
template <class S, int count>
__device__ bool add_cluster_parts(const TmaProduct& x, const float (&sum)[count], float (&all)[count], char* sums,
                                  Arrivals& arrivals, int warp, int lane, int rank) {
  static_assert(count * 32 * sizeof(float) == WarpsToAdd<S>::bytes);
  constexpr int group_bytes = 32 * sizeof(float4);
  float mine[count];
  take_sums(sum, mine);
  const WarpsToAdd<S> rows(warp, x.k_parts);
  char* const here =
      sums + rows.number * (x.k_parts - 1) * WarpsToAdd<S>::bytes + lane * static_cast<int>(sizeof(float4));
  const auto of_part = [&](int part, int but) { return here + (part - (part > but)) * WarpsToAdd<S>::bytes; };
  if (rows.block != rank) {
    const unsigned to = place_in(rows.block, of_part(rank, rows.block));
    const unsigned counted = place_in(rows.block, &arrivals.barrier);
#pragma unroll
    for (int g = 0; g < count / 4; ++g) send(to + static_cast<unsigned>(g * group_bytes), group(mine, g), counted);
    return false;
  }
  arrivals.wait();
#pragma unroll 1
  for (int part = 0; part < x.k_parts; ++part)
#pragma unroll
    for (int g = 0; g < count / 4; ++g)
      add_group(all, g,
                part == rank ? group(mine, g) : *reinterpret_cast<const float4*>(of_part(part, rank) + g * group_bytes),
                part == 0);
  return true;
}

#endif

} // namespace tessera::cuda::tma
