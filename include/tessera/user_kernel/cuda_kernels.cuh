#pragma once

/// The device's side of user_kernel.hpp: kernels that call functors, and TESSERA_CUDA_KERNELS. Only nvcc reads it.
///
/// A loop gives each thread an index, neighbouring threads neighbouring columns. A reduction gives each warp a chunk of
/// order.hpp: a lane of the contract is a lane of the warp. The warp that finishes the last chunk of 1024 reduces their
/// results, so that one launch is enough and no warp waits. A scan is three passes: the chunks' totals, their scan, and
/// the elements. All of it is enqueued; nothing waits for the device.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tessera/backend/build_tag.hpp>
#include <tessera/user_kernel/functor.hpp>
#include <tessera/user_kernel/order.hpp>
#include <tessera/user_kernel/table.hpp>

namespace tessera::detail {

inline constexpr int block_threads = 256;
inline constexpr int block_warps = block_threads / chunk_lanes;
inline constexpr int values_ahead = 8; ///< values that a lane computes before it combines the first of them
static_assert(chunk_lanes == 32 && chunk_values % (chunk_lanes * values_ahead) == 0, "a warp folds a chunk");

template <class F>
__global__ void __launch_bounds__(block_threads) for_each_kernel(const F f, Index n) {
  const Index step = static_cast<Index>(gridDim.x) * block_threads;
  for (Index i = static_cast<Index>(blockIdx.x) * block_threads + threadIdx.x; i < n; i += step) f(i);
}

/// Blocks are as wide as the rows are long, up to 256 columns, so that narrow matrices leave few threads idle.
template <class F>
__global__ void __launch_bounds__(block_threads) for_each_kernel(const F f, Index rows, Index cols) {
  const Index down = static_cast<Index>(gridDim.y) * blockDim.y, right = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.y) * blockDim.y + threadIdx.y; i < rows; i += down)
    for (Index j = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; j < cols; j += right) f(i, j);
}

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
__device__ void finish_levels(const Rule& rule, const DeviceLevels<typename Rule::Value>& scratch, Index chunk,
                              typename Rule::Value value) {
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
    if (finished != static_cast<unsigned>(members)) return;
    const LevelValues<typename Rule::Value> get{scratch.values[level] + first};
    value = fold_chunk(rule, members, get);
    chunk = next;
  }
}

template <int dimensions, class F, class Rule>
__global__ void __launch_bounds__(block_threads)
    reduce_kernel(const F f, const Rule rule, Index count, Index cols, Index row_step, Index col_step,
                  const DeviceLevels<typename Rule::Value> scratch) {
  const Index chunk = static_cast<Index>(blockIdx.x) * block_warps + threadIdx.x / chunk_lanes;
  if (chunk >= scratch.count[0]) return;
  const Index first = chunk * chunk_values, left = count - first;
  FunctorValues<F, Rule, dimensions> get(f, rule, cols, row_step, col_step, first + threadIdx.x % chunk_lanes);
  const auto value = fold_chunk(rule, static_cast<int>(left < chunk_values ? left : chunk_values), get);
  finish_levels(rule, scratch, chunk, value);
}

inline unsigned blocks_for(Index work, Index per_block) {
  constexpr Index most = 0x7FFFFFFF;
  const Index blocks = (work + per_block - 1) / per_block;
  return static_cast<unsigned>(blocks < most ? blocks : most);
}

template <int dimensions, class F>
int launch_for_each(const KernelLaunch& launch, const F& f) {
  const auto stream = static_cast<cudaStream_t>(launch.stream);
  if constexpr (dimensions == 1) {
    for_each_kernel<F><<<blocks_for(launch.cols, block_threads), block_threads, 0, stream>>>(f, launch.cols);
  } else {
    unsigned width = 32;
    while (width < block_threads && width < launch.cols) width *= 2;
    const unsigned height = block_threads / width;
    const unsigned right = blocks_for(launch.cols, width), down = blocks_for(launch.rows, height);
    const dim3 grid(right, down < 65535 ? down : 65535), block(width, height);
    for_each_kernel<F><<<grid, block, 0, stream>>>(f, launch.rows, launch.cols);
  }
  return static_cast<int>(cudaGetLastError());
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

inline constexpr int scan_warps = 4; ///< the chunks of a block; each takes 8.25 KiB of shared memory in double

/// Scans the elements of a chunk by a warp, in shared memory. Lane l takes run l.
template <class T>
struct ChunkScan {
  T (*run)[run_length + 1]; ///< rows of 33, so that lanes that walk along their runs use different banks

  /// Returns the total of the chunk, whose `count` elements are in run[e / 32][e % 32].
  __device__ T scan(int count) const {
    const int lane = static_cast<int>(threadIdx.x % chunk_lanes);
    const int left = count - lane * run_length;
    const int length = left < run_length ? left : run_length;
    T total{};
    if (length > 0) {
      total = run[lane][0];
      for (int k = 1; k < length; ++k) {
        total = sum_of(total, run[lane][k]);
        run[lane][k] = total;
      }
    }
#pragma unroll
    for (int d = 1; d < chunk_lanes; d *= 2) {
      const T before = __shfl_up_sync(0xFFFFFFFFu, total, static_cast<unsigned>(d));
      if (lane >= d) total = sum_of(before, total);
    }
    const T before = __shfl_up_sync(0xFFFFFFFFu, total, 1u);
    if (lane > 0)
      for (int k = 0; k < length; ++k) run[lane][k] = sum_of(before, run[lane][k]);
    __syncwarp();
    return run[(count - 1) / run_length][(count - 1) % run_length];
  }
};

/// Scans each chunk of `in`. With `out` it stores the elements, plus what `before` says that comes before the chunk;
/// without it, only the totals.
template <class T, class Get, class Put>
__device__ void scan_chunks(Index count, Get get, Put put, const T* before, T* totals) {
  __shared__ T shared[scan_warps][run_length][run_length + 1];
  const int warp = static_cast<int>(threadIdx.x / chunk_lanes), lane = static_cast<int>(threadIdx.x % chunk_lanes);
  const Index chunk = static_cast<Index>(blockIdx.x) * scan_warps + warp;
  const Index first = chunk * chunk_values;
  if (first >= count) return;
  const int members = static_cast<int>(count - first < chunk_values ? count - first : chunk_values);
  for (int e = lane; e < members; e += chunk_lanes) shared[warp][e / run_length][lane] = get(first + e);
  __syncwarp();
  const T total = ChunkScan<T>{shared[warp]}.scan(members);
  if (totals != nullptr && lane == 0) totals[chunk] = total;
  const bool adds = before != nullptr && chunk > 0;
  const T carried = adds ? before[chunk - 1] : T{};
  for (int e = lane; e < members; e += chunk_lanes) {
    const T value = shared[warp][e / run_length][lane];
    put(first + e, adds ? sum_of(carried, value) : value);
  }
}

template <class T>
__global__ void __launch_bounds__(scan_warps* chunk_lanes) scan_totals_kernel(const Scan<T> scan, Index n, T* totals) {
  scan_chunks<T>(n, [&](Index e) { return scan.in(e); }, [](Index, T) {}, static_cast<const T*>(nullptr), totals);
}
template <class T>
__global__ void __launch_bounds__(scan_warps* chunk_lanes) scan_kernel(const Scan<T> scan, Index n, const T* before) {
  scan_chunks<T>(n, [&](Index e) { return scan.in(e); }, [&](Index e, T value) { scan.out(e) = value; }, before,
                 static_cast<T*>(nullptr));
}
template <class T>
__global__ void __launch_bounds__(scan_warps* chunk_lanes)
    scan_level_kernel(T* values, Index n, T* totals) {
  scan_chunks<T>(n, [&](Index e) { return values[e]; }, [&](Index e, T value) { values[e] = value; },
                 static_cast<const T*>(nullptr), totals);
}

template <class T>
__global__ void __launch_bounds__(scan_warps* chunk_lanes) add_before_kernel(T* values, Index n, const T* before) {
  const Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= chunk_values && e < n) values[e] = sum_of(before[e / chunk_values - 1], values[e]);
}

/// Totals go up level by level, and their sums come down again. A level of one chunk needs no other one.
template <class T>
int launch_scan(const KernelLaunch& launch, const Scan<T>& scan) {
  const auto stream = static_cast<cudaStream_t>(launch.stream);
  constexpr int threads = scan_warps * chunk_lanes;
  const KernelLevels all = kernel_levels(launch.cols, sizeof(T));
  const DeviceLevels<T> at(all, launch.scratch);
  const auto blocks = [](Index count) { return blocks_for(chunks_of(count), scan_warps); };
  if (all.levels > 1) scan_totals_kernel<<<blocks(launch.cols), threads, 0, stream>>>(scan, launch.cols, at.values[0]);
  const T* none = nullptr;
  // values[level] has count[level] totals. Each level but the last is scanned in chunks, whose totals are the next one.
  for (int level = 0; level + 1 < all.levels; ++level)
    scan_level_kernel<<<blocks(at.count[level]), threads, 0, stream>>>(at.values[level], at.count[level],
                                                                       at.values[level + 1]);
  for (int level = all.levels - 3; level >= 0; --level)
    add_before_kernel<<<blocks_for(at.count[level], threads), threads, 0, stream>>>(at.values[level], at.count[level],
                                                                                    at.values[level + 1]);
  scan_kernel<<<blocks(launch.cols), threads, 0, stream>>>(scan, launch.cols, all.levels > 1 ? at.values[0] : none);
  return static_cast<int>(cudaGetLastError());
}

template <int dimensions, class F>
int launch_functor(const KernelLaunch& launch, const F& f) {
  using T = ReturnOf<F, dimensions>;
  if constexpr (!is_callable<F, dimensions>) {
    return kernel_not_offered;
  } else if constexpr (std::is_void_v<T>) {
    return launch.op == KernelOp::ForEach ? launch_for_each<dimensions>(launch, f) : kernel_not_offered;
  } else if constexpr (is_reducible<T>) {
    switch (launch.op) {
      case KernelOp::Sum:
        return launch_reduction<dimensions>(launch, f, SumRule<T>{});
      case KernelOp::Min:
        return launch_reduction<dimensions>(launch, f, ExtremumRule<T, false>{});
      case KernelOp::Max:
        return launch_reduction<dimensions>(launch, f, ExtremumRule<T, true>{});
      default:
        return kernel_not_offered;
    }
  } else {
    return kernel_not_offered;
  }
}

template <int dimensions, class F, class Combine>
int launch_functor(const KernelLaunch& launch, const Reduction<F, Combine>& reduction) {
  if constexpr (is_callable<F, dimensions>)
    return launch.op == KernelOp::Reduce
               ? launch_reduction<dimensions>(launch, reduction.f, CombineRule<Combine>{reduction.combine})
               : kernel_not_offered;
  else
    return kernel_not_offered;
}

template <int dimensions, class T>
int launch_functor(const KernelLaunch& launch, const Scan<T>& scan) {
  if constexpr (dimensions == 1)
    return launch.op == KernelOp::Scan ? launch_scan(launch, scan) : kernel_not_offered;
  else
    return kernel_not_offered;
}

template <class F>
int launch_on_device(const KernelLaunch& launch) noexcept {
  if (const cudaError_t error = cudaSetDevice(launch.device); error != cudaSuccess) return static_cast<int>(error);
  const F& f = *static_cast<const F*>(launch.functor);
  return launch.dimensions == 1 ? launch_functor<1>(launch, f) : launch_functor<2>(launch, f);
}

/// The bytes of what an index contributes to a reduction by a rule of the functor's own; 0: a sum or an extremum, whose
/// bytes the operation says.
template <class F>
inline constexpr std::uint32_t value_size_of = 0;
template <class F, class Combine>
inline constexpr std::uint32_t value_size_of<Reduction<F, Combine>> = sizeof(typename CombineRule<Combine>::Value);
template <class T>
inline constexpr std::uint32_t value_size_of<Scan<T>> = sizeof(T);

template <class F>
constexpr KernelEntry entry_of() {
  require_functor<F>();
  return {F::name, sizeof(F), alignof(F), value_size_of<F>, &launch_on_device<F>};
}

inline const char* error_text(int error) noexcept { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

/// The table of these functors.
template <class... Fs>
const KernelTable* table_of_functors() noexcept {
  static constexpr KernelEntry entries[] = {entry_of<Fs>()...};
  static constexpr KernelTable table{sizeof(KernelTable), kernel_table_abi, TESSERA_BUILD_TAG,
                                     entries,             sizeof...(Fs),    &error_text};
  return &table;
}

} // namespace tessera::detail

/// Defines the function that the plug-in of a program exports, with these functors. A .cu has it once, at the end.
#define TESSERA_CUDA_KERNELS(...)                                                                                     \
  extern "C" __attribute__((visibility("default"))) const tessera::KernelTable* tessera_user_kernels() noexcept {    \
    return tessera::detail::table_of_functors<__VA_ARGS__>();                                                         \
  }
