#pragma once

/// Few columns: the blocks of a cluster have a part of k each of one tile, so that all multiprocessors read the large
/// operand at once, and within a block the two consumers every other block of k. They send their sums to the block that
/// adds them, in an order that depends on the sizes alone: no sums go to memory and no second kernel adds them. C of
/// few rows is computed as Cᵀ. PTX ISA, "Distributed shared memory".

#include "cluster_send.cuh"
#include "tma_work.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Where sums are sent: behind the ring, with a stage less in it if the warps' buffers hold too few of them. Nothing
/// else is written there before all have come, so whoever sends need not ask.
template <class S>
__device__ int stages_of(const Product& x) {
  return S::sharing == Sharing::Results && (x.parts == 3 || x.parts > 4) ? S::count - 1 : S::count;
}

/// Every `parts`th of the tile's four times 16 rows is added by a block, from all consumers of all parts.
struct RowsToAdd {
  int block, number; ///< of those that the block adds

  __device__ RowsToAdd(int rows, int parts)
      : block(parts == 1      ? 0
              : rows >= parts ? rows - parts
                              : rows),
        number(parts == 1 ? rows : rows >= parts) {}
  /// How many a block adds; also of parts over 4, of which the last ones add none.
  static __device__ int count(int parts, int rank) { return (rank < 4) + (rank + parts < 4); }
};

/// Groups of 8 columns that exist.
template <int count>
__device__ int column_groups(const Product& x) {
  return min(count / 4, ((x.swapped ? x.to.m : x.to.n) + 7) / 8);
}

/// By one thread, before a barrier of the cluster.
template <class S>
__device__ void expect_parts(const Product& x, Arrivals& arrivals, int rank) {
  constexpr int group_bytes = 32 * sizeof(float4);
  arrivals.start(RowsToAdd::count(x.parts, rank) * x.parts * consumers * column_groups<S::tile_n / 2>(x) * group_bytes);
}

/// All consumers of this block are here.
__device__ inline void meet_consumers() { asm volatile("bar.sync 1, %0;" ::"n"(consumers * 128) : "memory"); }

/// From a consumer's sums of a warp's 16 rows to those of all consumers of all parts, where this warp is the one to
/// store these rows; else returns null. Each lane finds its own results where it sent them, behind `sums`. What is
/// returned has been read and is the warp's to use. `all` is not `sum`: ptxas would wait for products that may have
/// those registers.
template <int count>
__device__ char* add_parts(const Product& x, const float (&sum)[count], float (&all)[count], char* sums,
                           Arrivals& arrivals, int warp, int lane, int rank) {
  static_assert(count * 4 * 32 <= staging);
  constexpr int group_bytes = 32 * sizeof(float4);
  const int groups = column_groups<count>(x), consumer = warp / 4;
  const RowsToAdd rows(warp % 4, x.parts);
  char* const first = sums + rows.number * x.parts * consumers * staging;
  char* const here = first + lane * static_cast<int>(sizeof(float4));
  char* const own = here + (rank * consumers + consumer) * staging;
  float mine[count];
#pragma unroll
  for (int e = 0; e < count; ++e) {
    mine[e] = sum[e];
    asm volatile("" : "+f"(mine[e])); // here, behind the products, and in no branch
  }
  const auto sums_of = [&](int g) { return float4{mine[g * 4], mine[g * 4 + 1], mine[g * 4 + 2], mine[g * 4 + 3]}; };
  if (x.parts == 1) {
    meet_consumers(); // the last tile's sums have been read
#pragma unroll
    for (int g = 0; g < count / 4; ++g)
      if (g < groups) *reinterpret_cast<float4*>(own + g * group_bytes) = sums_of(g);
    meet_consumers();
  } else {
    const unsigned to = place_in(rows.block, own), counted = place_in(rows.block, &arrivals.barrier);
#pragma unroll
    for (int g = 0; g < count / 4; ++g)
      if (g < groups) send(to + static_cast<unsigned>(g * group_bytes), sums_of(g), counted);
  }
  if (consumer > 0 || rows.block != rank) return nullptr;
  if (x.parts > 1) arrivals.wait();
#pragma unroll 1
  for (int unit = 0; unit < x.parts * consumers; ++unit)
#pragma unroll
    for (int g = 0; g < count / 4; ++g)
      if (g < groups) {
        const auto more = *reinterpret_cast<const float4*>(here + unit * staging + g * group_bytes);
        all[g * 4] = unit == 0 ? more.x : all[g * 4] + more.x;
        all[g * 4 + 1] = unit == 0 ? more.y : all[g * 4 + 1] + more.y;
        all[g * 4 + 2] = unit == 0 ? more.z : all[g * 4 + 2] + more.z;
        all[g * 4 + 3] = unit == 0 ? more.w : all[g * 4 + 3] + more.w;
      }
  return first;
}

/// Results of Cᵀ to C, of 16-bit operands: a warp's 16 rows are columns j and on, the tile's columns rows i and on.
template <class R, int count>
__device__ void store_columns_of(const Results& x, R* c, const float (&sum)[count], int i, int j) {
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
__device__ void store_columns_of(const Results& x, const float (&sum)[count], int i, int j, int slice) {
  if (x.narrow)
    store_columns_of(x, static_cast<Narrow<type>*>(x.c), sum, i, j);
  else
    store_columns_of(x, static_cast<float*>(x.c) + slice * x.plane, sum, i, j);
}

#endif

} // namespace tessera::cuda::tma
