#pragma once

/// Few columns: the blocks of a cluster have a part of k each of one tile, so that all multiprocessors read the large
/// operand at once, and within a block the two consumers every other block of k. They add their sums through each
/// other's shared memory, in an order that depends on the sizes alone: no sums go to memory and no second kernel adds
/// them. C of few rows is computed as Cᵀ. PTX ISA, "Distributed shared memory".

#include "tma_work.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// All threads of the cluster have written what others read.
__device__ inline void meet() {
  __syncwarp();
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}

/// What `here` is in another block of the cluster.
__device__ inline float4 read_from(int block, const float4* here) {
  float4 x;
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %4, %5; ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there]; "
      "}"
      : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(here))), "r"(block)
      : "memory");
  return x;
}

/// All consumers of this block are here.
__device__ inline void meet_consumers() { asm volatile("bar.sync 1, %0;" ::"n"(consumers * 128) : "memory"); }

/// Turns a consumer's sums of a warp's 16 rows into those of all consumers of all parts, where this warp is the one to
/// store these rows; else returns false. Each lane finds its own results where it wrote them, in every block.
template <int count>
__device__ bool add_parts(const Product& x, float (&sum)[count], char* buffer, int warp, int lane, unsigned rank) {
  static_assert(count * 4 * 32 <= staging);
  const int columns = x.swapped ? x.to.m : x.to.n;
  auto* const here = reinterpret_cast<float4*>(buffer) + lane;
  constexpr int next_consumer = 4 * staging / static_cast<int>(sizeof(float4));
  if (x.parts == 1) meet_consumers(); // the last tile's sums have been read
#pragma unroll
  for (int g = 0; g < count / 4; ++g)
    if (g * 8 < columns) here[g * 32] = {sum[g * 4], sum[g * 4 + 1], sum[g * 4 + 2], sum[g * 4 + 3]};
  if (x.parts == 1)
    meet_consumers();
  else
    meet();
  if (warp >= 4 || warp % x.parts != static_cast<int>(rank)) return false;
  for (int part = 0; part < x.parts; ++part)
#pragma unroll
    for (int consumer = 0; consumer < consumers; ++consumer)
#pragma unroll
      for (int g = 0; g < count / 4; ++g)
        if (g * 8 < columns) {
          const float4 more = read_from(part, here + consumer * next_consumer + g * 32);
          const bool first = part == 0 && consumer == 0;
          sum[g * 4] = first ? more.x : sum[g * 4] + more.x;
          sum[g * 4 + 1] = first ? more.y : sum[g * 4 + 1] + more.y;
          sum[g * 4 + 2] = first ? more.z : sum[g * 4 + 2] + more.z;
          sum[g * 4 + 3] = first ? more.w : sum[g * 4 + 3] + more.w;
        }
  return true;
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
    R* const to = c + row * x.ldc + col;
    const float r = x.alpha * sum[e];
    *to = Rounding<R>::round(x.beta == 0 ? r : fused(x.beta, Rounding<R>::value(*to), r));
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
