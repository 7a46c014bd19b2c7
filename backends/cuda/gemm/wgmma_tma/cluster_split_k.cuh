#pragma once

/// Cluster split-k. The blocks of a cluster each sum a part of k of one tile, and send their sums to the block that
/// adds them, in an order that depends on the sizes alone. No sums go to memory, and no second kernel adds them.
///
/// If C has few columns, this lets all multiprocessors read the large operand at once; within a block the two consumers
/// take every other block of k. A C of few rows is computed as Cᵀ. Otherwise it serves products of few tiles of
/// 128×128. Source: PTX ISA, "Distributed shared memory".

#include "cuda/gemm/common/cluster_send.cuh"
#include "work_tiles.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Returns the number of stages in the ring. The sums are sent to the shared memory behind the ring; if the warps'
/// buffers there are too small for them, the ring has fewer stages. Nothing else is written there before all sums have
/// arrived, so a sending block need not ask.
template <class S>
__device__ int stages_of(const TmaProduct& x) {
  if (S::sharing != Sharing::Results) return S::count;
  if (S::blocks == 1) return S::count - x.k_parts / 2;
  return x.k_parts == 3 || x.k_parts > 4 ? S::count - 1 : S::count;
}

/// Says which block adds the 16 rows number `rows` of a tile of 64 rows: every k_parts-th group of 16 rows belongs to
/// one block, which adds the sums of all consumers of all parts.
struct RowsToAdd {
  int block, number; ///< the block, and the position of the rows among the rows that the block adds

  __device__ RowsToAdd(int rows, int k_parts)
      : block(k_parts == 1      ? 0
              : rows >= k_parts ? rows - k_parts
                                : rows),
        number(k_parts == 1 ? rows : rows >= k_parts) {}
  /// Returns how many groups of 16 rows a block adds. Of more than four blocks, the last ones add none.
  static __device__ int count(int k_parts, int rank) { return (rank < 4) + (rank + k_parts < 4); }
};

/// Returns the number of groups of 8 columns that exist.
template <int count>
__device__ int column_groups(const TmaProduct& x) {
  return min(count / 4, ((x.swapped ? x.to.m : x.to.n) + 7) / 8);
}

/// Says which block adds a warp's rows of a tile of 128×128. Each of two or four blocks adds the rows of some warps.
struct WarpsToAdd {
  static constexpr int bytes = 16 * 128 * sizeof(float); ///< of a warp's sums
  int each;                                              ///< warps whose rows a block adds
  int block, number; ///< the block, and the position of the rows among the rows that the block adds

  __device__ WarpsToAdd(int warp, int k_parts)
      : each(consumers * 4 / k_parts), block(warp / each), number(warp % each) {}
};

/// Sets how many bytes the barrier waits for. One thread calls it, before a barrier of the cluster.
template <class S>
__device__ void expect_cluster_parts(const TmaProduct& x, Arrivals& arrivals, int rank) {
  if (S::blocks == 1) return arrivals.start(WarpsToAdd(0, x.k_parts).each * (x.k_parts - 1) * WarpsToAdd::bytes);
  constexpr int group_bytes = 32 * sizeof(float4);
  arrivals.start(RowsToAdd::count(x.k_parts, rank) * x.k_parts * consumers * column_groups<S::tile_n / 2>(x) *
                 group_bytes);
}

/// Copies a warp's sums. It is called behind the products and in no branch: otherwise ptxas would wait for products
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

/// Waits until all consumers of this block are here.
__device__ inline void meet_consumers() { asm volatile("bar.sync 1, %0;" ::"n"(consumers * 128) : "memory"); }

/// Adds up a warp's 16 rows of a tile with few columns. Sends this consumer's sums to the block that adds the rows. If
/// this warp is the one that stores them, sums them over all consumers of all parts into `all`, and returns a buffer
/// that the warp may use; otherwise returns nullptr. Each lane finds its own results where the lanes have sent them,
/// behind `sums`. `all` is not `sum`, because ptxas would wait for products that may use those registers.
template <int count>
__device__ char* add_cluster_parts(const TmaProduct& x, const float (&sum)[count], float (&all)[count], char* sums,
                                   Arrivals& arrivals, int warp, int lane, int rank) {
  static_assert(count * 4 * 32 <= staging);
  constexpr int group_bytes = 32 * sizeof(float4);
  const int groups = column_groups<count>(x), consumer = warp / 4;
  const RowsToAdd rows(warp % 4, x.k_parts);
  char* const first = sums + rows.number * x.k_parts * consumers * staging;
  char* const here = first + lane * static_cast<int>(sizeof(float4));
  char* const own = here + (rank * consumers + consumer) * staging;
  float mine[count];
  take_sums(sum, mine);
  if (x.k_parts == 1) {
    meet_consumers(); // the last tile's sums have been read
#pragma unroll
    for (int g = 0; g < count / 4; ++g)
      if (g < groups) *reinterpret_cast<float4*>(own + g * group_bytes) = group(mine, g);
    meet_consumers();
  } else {
    const unsigned to = place_in(rows.block, own), counted = place_in(rows.block, &arrivals.barrier);
#pragma unroll
    for (int g = 0; g < count / 4; ++g)
      if (g < groups) send(to + static_cast<unsigned>(g * group_bytes), group(mine, g), counted);
  }
  if (consumer > 0 || rows.block != rank) return nullptr;
  if (x.k_parts > 1) arrivals.wait();
#pragma unroll 1
  for (int unit = 0; unit < x.k_parts * consumers; ++unit)
#pragma unroll
    for (int g = 0; g < count / 4; ++g)
      if (g < groups)
        add_group(all, g, *reinterpret_cast<const float4*>(here + unit * staging + g * group_bytes), unit == 0);
  return first;
}

/// Adds up a warp's 16 rows of a tile of 128×128 into `all`. Returns false where another block adds and stores these
/// rows. `sums` is the memory behind the ring, which has no other use at that time.
template <int count>
__device__ bool add_cluster_parts_128(const TmaProduct& x, const float (&sum)[count], float (&all)[count], char* sums,
                                      Arrivals& arrivals, int warp, int lane, int rank) {
  static_assert(count * 32 * sizeof(float) == WarpsToAdd::bytes);
  constexpr int group_bytes = 32 * sizeof(float4);
  float mine[count];
  take_sums(sum, mine);
  const WarpsToAdd rows(warp, x.k_parts);
  char* const here = sums + rows.number * (x.k_parts - 1) * WarpsToAdd::bytes + lane * static_cast<int>(sizeof(float4));
  const auto of_part = [&](int part, int but) { return here + (part - (part > but)) * WarpsToAdd::bytes; };
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
