#pragma once

/// Reductions on a device, in the order of order.hpp: each warp has a chunk, and a lane of the contract is a lane of
/// the warp. The warp that finishes the last of 1024 chunks reduces their results, so that one launch is enough and no
/// warp waits. Only nvcc reads this file.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include <tessera/detail/user_kernel/cuda_loop.cuh>
#include <tessera/user_kernel/order.hpp>

namespace tessera::detail {

inline constexpr int block_warps = block_threads / chunk_lanes;
inline constexpr int values_ahead = 8; ///< values that a lane computes before it combines the first of them
static_assert(chunk_lanes == 32 && chunk_values % (chunk_lanes * values_ahead) == 0, "a warp folds a chunk");

/// The scratch memory of a reduction or a scan.
template <class Value>
struct DeviceLevels {
  int levels;
  Index count[KernelLevels::most];
  Value* values[KernelLevels::most];
  std::uint32_t* counters[KernelLevels::most];

  DeviceLevels(const KernelLevels& all, void* scratch) : levels(all.levels) {
    for (int level = 0; level < all.levels; ++level) {
      count[level] = all.count[level];
      values[level] = reinterpret_cast<Value*>(static_cast<char*>(scratch) + all.values_at[level]);
      counters[level] = reinterpret_cast<std::uint32_t*>(static_cast<char*>(scratch) + all.counters_at[level]);
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

/// Reads what another multiprocessor wrote.
template <class Value>
__device__ __forceinline__ Value read_shared_value(const Value* place) {
  Words<Value> words;
  const auto* from = reinterpret_cast<const std::uint32_t*>(place);
#pragma unroll
  for (int w = 0; w < Words<Value>::count; ++w) words.word[w] = __ldcg(from + w);
  return __builtin_bit_cast(Value, words);
}
__device__ __forceinline__ double read_shared_value(const double* place) { return __ldcg(place); }
__device__ __forceinline__ float read_shared_value(const float* place) { return __ldcg(place); }
__device__ __forceinline__ std::int64_t read_shared_value(const std::int64_t* place) {
  return static_cast<std::int64_t>(__ldcg(reinterpret_cast<const long long*>(place)));
}

/// Folds the lanes of a warp; lane 0 has the result.
template <class Rule>
__device__ __forceinline__ typename Rule::Value fold_lanes(const Rule& rule, typename Rule::Value lane) {
#pragma unroll
  for (int width = chunk_lanes / 2; width > 0; width /= 2) lane = rule.join(lane, from_lane_above(lane, width));
  return lane;
}

/// Combines the values that get(e) gives for this lane's elements e of a chunk of `count` values.
template <class Rule, class Get>
__device__ __forceinline__ typename Rule::Value fold_chunk(const Rule& rule, int count, Get& get) {
  using Value = typename Rule::Value;
  Value sum = rule.identity();
  const int lane = static_cast<int>(threadIdx.x % chunk_lanes);
  if (count == chunk_values) {
    for (int e = lane; e < chunk_values; e += values_ahead * chunk_lanes) {
      Value values[values_ahead];
#pragma unroll
      for (int u = 0; u < values_ahead; ++u) values[u] = get(e + u * chunk_lanes);
#pragma unroll
      for (int u = 0; u < values_ahead; ++u) sum = rule.join(sum, values[u]);
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

/// The results of a level's chunk.
template <class Value>
struct LevelValues {
  const Value* values;
  __device__ __forceinline__ Value operator()(int e) const { return read_shared_value(values + e); }
};

/// Hands the result of a chunk to the next level, and goes on there if this warp finished the last of 1024.
template <class Rule>
__device__ __forceinline__ void finish_levels(const Rule& rule, const DeviceLevels<typename Rule::Value>& scratch,
                                              Index chunk, typename Rule::Value value) {
  const bool first_lane = threadIdx.x % chunk_lanes == 0;
  for (int level = 0;; ++level) {
    if (first_lane) scratch.values[level][chunk] = value;
    if (level + 1 == scratch.levels) return;
    const Index next = chunk / chunk_values, first = next * chunk_values, left = scratch.count[level] - first;
    const int members = static_cast<int>(left < chunk_values ? left : chunk_values);
    unsigned finished = 0;
    if (first_lane) {
      __threadfence();
      finished = atomicAdd(&scratch.counters[level + 1][next], 1u) + 1;
      __threadfence();
    }
    finished = __shfl_sync(0xFFFFFFFFu, finished, 0);
    __syncwarp(); // the other lanes read what lane 0 saw
    if (finished != static_cast<unsigned>(members)) return;
    const LevelValues<typename Rule::Value> get{scratch.values[level] + first};
    value = fold_chunk(rule, members, get);
    chunk = next;
  }
}

template <int dimensions, class F, class Rule>
__global__ void __launch_bounds__(block_threads)
    reduce_kernel(const __grid_constant__ F f, const __grid_constant__ Rule rule, Index count, Index cols,
                  Index row_step, Index col_step, const __grid_constant__ DeviceLevels<typename Rule::Value> scratch) {
  const Index chunk = static_cast<Index>(blockIdx.x) * block_warps + threadIdx.x / chunk_lanes;
  if (chunk >= scratch.count[0]) return;
  const Index first = chunk * chunk_values, left = count - first;
  FunctorValues<F, Rule, dimensions> get(f, rule, cols, row_step, col_step, first + threadIdx.x % chunk_lanes);
  const auto value = fold_chunk(rule, static_cast<int>(left < chunk_values ? left : chunk_values), get);
  finish_levels(rule, scratch, chunk, value);
}

template <int dimensions, class F, class Rule>
int launch_reduction(const KernelLaunch& launch, const F& f, const Rule& rule) {
  using Value = typename Rule::Value;
  const auto stream = static_cast<cudaStream_t>(launch.stream);
  const Index count = launch.rows * launch.cols;
  const KernelLevels all = kernel_levels(count, sizeof(Value));
  if (all.counter_bytes != 0)
    if (const cudaError_t error = cudaMemsetAsync(launch.scratch, 0, all.counter_bytes, stream); error != cudaSuccess)
      return static_cast<int>(error);
  reduce_kernel<dimensions><<<blocks_for(all.count[0], block_warps), block_threads, 0, stream>>>(
      f, rule, count, launch.cols, chunk_lanes / launch.cols, chunk_lanes % launch.cols,
      DeviceLevels<Value>(all, launch.scratch));
  return static_cast<int>(cudaGetLastError());
}

} // namespace tessera::detail
