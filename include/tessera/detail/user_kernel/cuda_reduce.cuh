#pragma once

/// Reductions on a device, in the order of order.hpp: each warp has a chunk, and a lane of the contract is a lane of
/// the warp. A second kernel of one block combines the results of the chunks. Where there are more than 32768 of them,
/// kernels of many blocks come before it. Only nvcc reads this file.

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <tessera/detail/user_kernel/cuda_loop.cuh>
#include <tessera/user_kernel/order.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

inline constexpr int block_warps = block_threads / chunk_lanes;
inline constexpr int values_ahead = 8; ///< values that a lane computes before it combines the first of them
static_assert(chunk_lanes == 32 && chunk_values % (chunk_lanes * values_ahead) == 0, "a warp folds a chunk");
inline constexpr int last_warps = 32; ///< the chunks that the last kernel combines at once
/// The results of chunks that a lane reads before it combines the first of them. Reading them waits for memory alone,
/// so that there are more of them than values_ahead: 128 bytes of registers.
template <class Value>
inline constexpr int results_ahead = static_cast<int>(std::bit_floor(std::min<std::size_t>(128 / sizeof(Value), 32)));

/// The scratch memory of a reduction or a scan.
template <class Value>
struct DeviceLevels {
  int levels;
  Index count[KernelLevels::most];
  Value* values[KernelLevels::most];

  DeviceLevels(const KernelLevels& all, void* scratch) : levels(all.levels) {
    for (int level = 0; level < all.levels; ++level) {
      count[level] = all.count[level];
      values[level] = reinterpret_cast<Value*>(static_cast<char*>(scratch) + all.values_at[level]);
    }
  }
};

template <class Value>
struct Words {
  static constexpr int count = sizeof(Value) / sizeof(std::uint32_t);
  std::uint32_t word[count];
};

/// Returns the value of the lane that is `offset` above this one.
template <class Value>
__device__ __forceinline__ Value from_lane_above(const Value& value, int offset) {
  auto words = __builtin_bit_cast(Words<Value>, value);
#pragma unroll
  for (int w = 0; w < Words<Value>::count; ++w)
    words.word[w] = __shfl_down_sync(0xFFFFFFFFu, words.word[w], static_cast<unsigned>(offset));
  return __builtin_bit_cast(Value, words);
}

/// Folds the lanes of a warp; lane 0 has the result.
template <class Rule>
__device__ __forceinline__ typename Rule::Value fold_lanes(const Rule& rule, typename Rule::Value lane) {
#pragma unroll
  for (int width = chunk_lanes / 2; width > 0; width /= 2) lane = rule.join(lane, from_lane_above(lane, width));
  return lane;
}

/// Combines the values that get(e) gives for this lane's elements e of a chunk of `count` values, of which it asks for
/// `ahead` before it combines them.
template <int ahead, class Rule, class Get>
__device__ __forceinline__ typename Rule::Value fold_chunk(const Rule& rule, int count, Get& get) {
  using Value = typename Rule::Value;
  Value sum = rule.identity();
  const int lane = static_cast<int>(threadIdx.x % chunk_lanes);
  if (count == chunk_values) {
    for (int e = lane; e < chunk_values; e += ahead * chunk_lanes) {
      Value values[ahead];
#pragma unroll
      for (int u = 0; u < ahead; ++u) values[u] = get(e + u * chunk_lanes);
#pragma unroll
      for (int u = 0; u < ahead; ++u) sum = rule.join(sum, values[u]);
    }
  } else {
    for (int e = lane; e < count; e += chunk_lanes) sum = rule.join(sum, get(e));
  }
  return fold_lanes(rule, sum);
}

/// The values of a functor in a chunk. A lane's elements are asked for in ascending order, 32 apart, so the place moves
/// by steps that need no division.
template <class F, class Rule, int dimensions>
struct FunctorValues {
  const F& f;
  const Rule& rule;
  Index cols, row_step, col_step; ///< 32 = row_step·cols + col_step
  Index place, i, j;

  __device__ FunctorValues(const F& functor, const Rule& its_rule, Index columns, Index rows_down, Index cols_right,
                           Index first)
      : f(functor), rule(its_rule), cols(columns), row_step(rows_down), col_step(cols_right), place(first), i(0), j(0) {
    if constexpr (dimensions == 2) {
      i = first / cols;
      j = first - i * cols;
    }
  }
  __device__ __forceinline__ typename Rule::Value operator()(int) {
    typename Rule::Value value;
    if constexpr (dimensions == 1)
      value = rule.first(f(place), place);
    else
      value = rule.first(f(i, j), place);
    place += chunk_lanes;
    if constexpr (dimensions == 2) {
      i += row_step;
      j += col_step;
      if (j >= cols) {
        j -= cols;
        ++i;
      }
    }
    return value;
  }
};

/// The number of values in a chunk of `count` values.
__device__ __forceinline__ int members_of(Index count, Index chunk) {
  const Index left = count - chunk * chunk_values;
  return static_cast<int>(left < chunk_values ? left : chunk_values);
}

/// Leaves the results of the chunks in `results`.
template <int dimensions, class F, class Rule>
__global__ void __launch_bounds__(block_threads)
    reduce_kernel(const __grid_constant__ F f, const __grid_constant__ Rule rule, Index count, Index cols,
                  Index row_step, Index col_step, Index chunks, typename Rule::Value* results) {
  const Index chunk = static_cast<Index>(blockIdx.x) * block_warps + threadIdx.x / chunk_lanes;
  if (chunk >= chunks) return;
  FunctorValues<F, Rule, dimensions> get(f, rule, cols, row_step, col_step,
                                         chunk * chunk_values + threadIdx.x % chunk_lanes);
  const auto value = fold_chunk<values_ahead>(rule, members_of(count, chunk), get);
  if (threadIdx.x % chunk_lanes == 0) results[chunk] = value;
}

/// Combines a chunk of the `count` results at `values`.
template <class Rule>
__device__ __forceinline__ typename Rule::Value fold_results(const Rule& rule, const typename Rule::Value* values,
                                                             Index count, Index chunk) {
  const typename Rule::Value* const first = values + chunk * chunk_values;
  auto get = [first](int e) { return first[e]; };
  return fold_chunk<results_ahead<typename Rule::Value>>(rule, members_of(count, chunk), get);
}

/// Combines the chunks of a level; a warp has one.
template <class Rule>
__global__ void __launch_bounds__(block_threads)
    fold_level_kernel(const __grid_constant__ Rule rule, const typename Rule::Value* values, Index count, Index chunks,
                      typename Rule::Value* results) {
  const Index chunk = static_cast<Index>(blockIdx.x) * block_warps + threadIdx.x / chunk_lanes;
  if (chunk >= chunks) return;
  const auto value = fold_results(rule, values, count, chunk);
  if (threadIdx.x % chunk_lanes == 0) results[chunk] = value;
}

/// Combines a level of at most 32 chunks, and their results. It has one block, with a warp for each chunk.
template <class Rule>
__global__ void __launch_bounds__(last_warps* chunk_lanes)
    fold_last_kernel(const __grid_constant__ Rule rule, const typename Rule::Value* values, Index count,
                     typename Rule::Value* result) {
  using Value = typename Rule::Value;
  __shared__ Words<Value> shared[last_warps]; // words, because a Value may have a constructor
  const int warp = static_cast<int>(threadIdx.x / chunk_lanes), lane = static_cast<int>(threadIdx.x % chunk_lanes);
  const auto chunks = static_cast<int>((count + chunk_values - 1) / chunk_values);
  if (warp < chunks) {
    const Value value = fold_results(rule, values, count, warp);
    if (lane == 0 && chunks > 1) shared[warp] = __builtin_bit_cast(Words<Value>, value);
    if (lane == 0 && chunks == 1) *result = value;
  }
  if (chunks == 1) return;
  __syncthreads();
  if (warp > 0) return;
  Value value = rule.identity();
  if (lane < chunks) value = rule.join(value, __builtin_bit_cast(Value, shared[lane]));
  value = fold_lanes(rule, value);
  if (lane == 0) *result = value;
}

template <int dimensions, class F, class Rule>
int launch_reduction(const KernelLaunch& launch, const F& f, const Rule& rule) {
  using Value = typename Rule::Value;
  const auto stream = static_cast<cudaStream_t>(launch.stream);
  const Index count = launch.rows * launch.cols;
  const KernelLevels all = kernel_levels(count, sizeof(Value));
  const DeviceLevels<Value> at(all, launch.scratch);
  reduce_kernel<dimensions><<<blocks_for(at.count[0], block_warps), block_threads, 0, stream>>>(
      f, rule, count, launch.cols, chunk_lanes / launch.cols, chunk_lanes % launch.cols, at.count[0], at.values[0]);
  int level = 0;
  for (; at.count[level] > last_warps * chunk_values; ++level)
    fold_level_kernel<<<blocks_for(at.count[level + 1], block_warps), block_threads, 0, stream>>>(
        rule, at.values[level], at.count[level], at.count[level + 1], at.values[level + 1]);
  if (at.count[level] > 1)
    fold_last_kernel<<<1, last_warps * chunk_lanes, 0, stream>>>(rule, at.values[level], at.count[level],
                                                                 at.values[at.levels - 1]);
  return static_cast<int>(cudaGetLastError());
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
