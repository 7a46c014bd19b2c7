#pragma once

/// The blocks of a cluster have a part of k each of one tile, and send their sums to the block that adds them, in an
/// order that depends on the sizes alone: no sums go to memory and no second kernel adds them. Where C has few columns
/// that is so that all multiprocessors read the large operand at once, and within a block the two consumers have every
/// other block of k; C of few rows is computed as Cᵀ. Else it is because there are few tiles of 128×128. PTX ISA,
/// "Distributed shared memory".

#include "cuda/gemm/common/cluster_send.cuh"
#include "work_tiles.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Where sums are sent: behind the ring, with a stage less in it if the warps' buffers hold too few of them. Nothing
/// else is written there before all have come, so whoever sends need not ask.
template <class S>
__device__ int stages_of(const TmaProduct& x) {
  if (S::sharing != Sharing::Results) return S::count;
  if (S::blocks == 1) return S::count - x.k_parts / 2;
  return x.k_parts == 3 || x.k_parts > 4 ? S::count - 1 : S::count;
}

/// Every `parts`th of the tile's four times 16 rows is added by a block, from all consumers of all parts.
struct RowsToAdd {
  int block, number; ///< of those that the block adds

  __device__ RowsToAdd(int rows, int k_parts)
      : block(k_parts == 1      ? 0
              : rows >= k_parts ? rows - k_parts
                                : rows),
        number(k_parts == 1 ? rows : rows >= k_parts) {}
  /// How many a block adds; also of parts over 4, of which the last ones add none.
  static __device__ int count(int k_parts, int rank) { return (rank < 4) + (rank + k_parts < 4); }
};

/// Groups of 8 columns that exist.
template <int count>
__device__ int column_groups(const TmaProduct& x) {
  return min(count / 4, ((x.swapped ? x.to.m : x.to.n) + 7) / 8);
}

/// Of a tile of 128×128 each of two or four blocks adds some warps' rows.
struct WarpsToAdd {
  static constexpr int bytes = 16 * 128 * sizeof(float); ///< of a warp's sums
  int each;                                              ///< block's warps
  int block, number;                                     ///< of those that the block adds

  __device__ WarpsToAdd(int warp, int k_parts)
      : each(consumers * 4 / k_parts), block(warp / each), number(warp % each) {}
};

/// By one thread, before a barrier of the cluster.
template <class S>
__device__ void expect_cluster_parts(const TmaProduct& x, Arrivals& arrivals, int rank) {
  if (S::blocks == 1) return arrivals.start(WarpsToAdd(0, x.k_parts).each * (x.k_parts - 1) * WarpsToAdd::bytes);
  constexpr int group_bytes = 32 * sizeof(float4);
  arrivals.start(RowsToAdd::count(x.k_parts, rank) * x.k_parts * consumers * column_groups<S::tile_n / 2>(x) *
                 group_bytes);
}

/// A warp's sums here, behind the products, and in no branch: else ptxas would wait for products that may have the
/// registers of whatever they are copied to.
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
/// Group g of the sums so far, of which this part is the `first`.
template <int count>
__device__ void add_group(float (&all)[count], int g, const float4& more, bool first) {
  all[g * 4] = first ? more.x : all[g * 4] + more.x;
  all[g * 4 + 1] = first ? more.y : all[g * 4 + 1] + more.y;
  all[g * 4 + 2] = first ? more.z : all[g * 4 + 2] + more.z;
  all[g * 4 + 3] = first ? more.w : all[g * 4 + 3] + more.w;
}

/// All consumers of this block are here.
__device__ inline void meet_consumers() { asm volatile("bar.sync 1, %0;" ::"n"(consumers * 128) : "memory"); }

/// From a consumer's sums of a warp's 16 rows to those of all consumers of all parts, where this warp is the one to
/// store these rows; else returns null. Each lane finds its own results where it sent them, behind `sums`. What is
/// returned has been read and is the warp's to use. `all` is not `sum`: ptxas would wait for products that may have
/// those registers.
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

/// The same of a tile of 128×128: false where another block is to store the warp's rows. `sums` are behind the ring,
/// and nobody has them to use then.
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

/// Results of Cᵀ to C, of 16-bit operands: a warp's 16 rows are columns j and on, the tile's columns rows i and on.
template <class R, int count>
__device__ void store_columns_of(const Output& x, R* c, const float (&sum)[count], int i, int j) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  j += lane / 4;
  i += lane % 4 * 2;
#pragma unroll
  for (int e = 0; e < count; ++e) {
    const int row = i + e / 4 * 8 + e % 2, col = j + e % 4 / 2 * 8;
    if (row >= x.m || col >= x.n) continue;
    store_rounded(c + row * x.ldc + col, sum[e], x.alpha, x.beta);
  }
}
template <UnitType type, int count>
__device__ void store_columns_of(const Output& x, const float (&sum)[count], int i, int j, int slice) {
  if (x.narrow)
    store_columns_of(x, static_cast<Narrow<type>*>(x.c), sum, i, j);
  else
    store_columns_of(x, static_cast<float*>(x.c) + slice * x.plane, sum, i, j);
}

#endif

} // namespace tessera::cuda::tma
