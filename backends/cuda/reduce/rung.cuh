#pragma once

/// Defines what a rung's kernel sees and how a rung runs its kernel.

#include <cstdint>
#include <type_traits>

#include "cuda/device/status.hpp"
#include "cuda/elementwise/grid_stride.cuh"
#include "cuda/queue/stream.hpp"
#include "reference/reduce/whole_sum.hpp"

#include "ladder.hpp"
#include "partial_sums.hpp"

namespace tessera::cuda {

inline constexpr int reduce_threads = 256; ///< Threads of a block. This number and the grid are the CUDA course's.
inline constexpr int many_blocks_grid = 32;

/// The type in which squares of T are added: double, or for whole numbers their exact sum.
template <class T>
struct SumType {
  using Type = double;
};
template <>
struct SumType<std::int32_t> {
  using Type = host::WholeSum;
};
template <class T>
using SumOf = typename SumType<T>::Type;

/// Whole numbers have one sum in every order of additions, so each of their kernels keeps the contract.
template <class T>
inline constexpr Summation summation_of = std::is_same_v<T, std::int32_t> ? Summation::Canonical : Summation::Other;

/// Returns the partial sums of a rung's kernel, with their type.
template <class T>
__device__ SumOf<T>* sums_in(const RungOutput& output) {
  return reinterpret_cast<SumOf<T>*>(output.sums);
}

/// Returns the sum of the lane that is `offset` above this one.
__device__ inline double from_lane_above(double sum, int offset) { return __shfl_down_sync(0xFFFFFFFFu, sum, offset); }
__device__ inline host::WholeSum from_lane_above(host::WholeSum sum, int offset) {
  return {__shfl_down_sync(0xFFFFFFFFu, sum.bits, offset)};
}

/// The matrix as a vector of `count` elements, row by row.
template <class T>
struct Elements {
  const T* x;
  Index count;
  Index cols;
  Index ld;

  explicit Elements(const ReduceCall& call)
      : x(static_cast<const T*>(call.x)), count(call.rows * call.cols), cols(call.cols), ld(call.ldx) {}

  /// Returns element e. This divides once for each element if rows are padded, because indexing is not what the rungs
  /// teach. `canonical` does not divide (grid_stride.cuh).
  __device__ T operator[](Index e) const { return cols == ld ? x[e] : x[e / cols * ld + e % cols]; }
  __device__ SumOf<T> square(Index e) const {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      return host::WholeSum::square((*this)[e]);
    } else {
      const double value = static_cast<double>((*this)[e]);
      return value * value;
    }
  }
};

/// Returns the device's global time in nanoseconds.
__device__ inline unsigned long long global_time() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

/// Every thread of a block calls start_time() first and end_time() last.
__device__ inline void start_time(const RungOutput& output) {
  if (threadIdx.x == 0) output.times[blockIdx.x].start = global_time();
}
__device__ inline void end_time(const RungOutput& output) {
  __syncthreads();
  if (threadIdx.x == 0) output.times[blockIdx.x].end = global_time();
}

/// Returns the sum of the squares of a thread's elements. All threads of the grid take turns, so that neighbouring
/// threads read neighbouring elements.
template <class T>
__device__ SumOf<T> sum_in_turns(const Elements<T>& x) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  SumOf<T> sum{};
  for (Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; e < x.count; e += step) sum += x.square(e);
  return sum;
}

/// Runs a kernel with `blocks` blocks of `threads` threads that leaves `sums` partial sums, and adds them on the host.
template <class T>
Status run_rung(void (*kernel)(Elements<T>, RungOutput), const char* name, int blocks, int threads, int sums,
                Executor& executor, Queue& queue, const ReduceCall& call, ReduceResult& result) noexcept {
  PartialSums partial(executor, queue);
  if (Status status = partial.allocate(sums, blocks); !status.ok()) return status;
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), 0, stream_of(queue)>>>(Elements<T>(call),
                                                                                                 partial.output());
  if (Status status = launched(name); !status.ok()) return status;
  if constexpr (std::is_same_v<T, std::int32_t>)
    return partial.add_whole(call, result);
  else
    return partial.add(result);
}

} // namespace tessera::cuda
