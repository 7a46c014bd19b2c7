#pragma once

/// How results are stored: two neighbours of a row at a time.

#include "cuda/gemm/common/emulated_fp16x3/strict_sum.cuh"
#include "cuda/gemm/common/stores/results.cuh"
#include "params.cuh"

namespace tessera::cuda::block_split {

/// Returns the place in its tile of the first result of a thread that multiplies. Vector v of four, two of them 8 rows
/// below the others, lies 8·v columns to the right.
__device__ inline ResultPlace place_in_tile(int thread) {
  const int lane = thread % 32;
  return {thread / 32 % 4 * 16 + lane / 4, thread / 128 * group_columns + lane % 4 * 2};
}

/// Reads C as it was, at (row, column) and its right neighbour.
__device__ inline void read_old(const Product& x, Index row, Index column, float (&old)[2]) {
  const StridedOperands<float>& whole = x.whole;
  if (row >= whole.m) return;
  const float* const from = whole.c + row * whole.ldc + column;
  if (x.c_pairs && column + 1 < whole.n) {
    const float2 two = *reinterpret_cast<const float2*>(from);
    old[0] = two.x;
    old[1] = two.y;
  } else {
    if (column < whole.n) old[0] = from[0];
    if (column + 1 < whole.n) old[1] = from[1];
  }
}

/// Stores the sums of a result and its right neighbour; one that is unfit is computed anew.
__device__ inline void store_two(const Product& x, Index row, Index column, float (&sum)[2], const float (&old)[2]) {
  const StridedOperands<float>& whole = x.whole;
  if (row >= whole.m) return;
#pragma unroll
  for (int e = 0; e < 2; ++e)
    if (wgmma::is_unfit(sum[e]) && column + e < whole.n) [[unlikely]]
      sum[e] = wgmma::strict_sum(whole, row, column + e);
  if (whole.epilogue.wanted) [[unlikely]] {
#pragma unroll 1
    for (int e = 0; e < 2 && column + e < whole.n; ++e) {
      const float one[1][1]{{e == 0 ? sum[0] : sum[1]}};
      whole.epilogue.store([&](int) -> ResultPlace { return {row, column + e}; }, one);
    }
    return;
  }
  float* const to = whole.c + row * whole.ldc + column;
  const float2 result{strict_result(sum[0], whole.alpha, whole.beta, old[0]),
                      strict_result(sum[1], whole.alpha, whole.beta, old[1])};
  if (x.c_pairs && column + 1 < whole.n) {
    *reinterpret_cast<float2*>(to) = result;
  } else {
    if (column < whole.n) to[0] = result.x;
    if (column + 1 < whole.n) to[1] = result.y;
  }
}

} // namespace tessera::cuda::block_split
