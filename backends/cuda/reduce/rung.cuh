#pragma once

/// What a rung's kernel sees, and how a rung runs it.

#include "cuda/device/status.hpp"
#include "cuda/elementwise/grid_stride.cuh"
#include "cuda/queue/stream.hpp"
#include "ladder.hpp"
#include "partial_sums.hpp"

namespace tessera::cuda {

inline constexpr int reduce_threads = 256; ///< of a block; this and the grid are the course's
inline constexpr int many_blocks_grid = 32;

/// The matrix as a vector of `count` elements, row by row.
template <class T>
struct Elements {
  const T* x;
  Index count;
  Index cols;
  Index ld;

  explicit Elements(const ReduceCall& call)
      : x(static_cast<const T*>(call.x)), count(call.rows * call.cols), cols(call.cols), ld(call.ldx) {}

  /// A division an element where rows are padded: a rung is about something else. `canonical` does without.
  __device__ T operator[](Index e) const { return cols == ld ? x[e] : x[e / cols * ld + e % cols]; }
  __device__ double square(Index e) const {
    const double value = static_cast<double>((*this)[e]);
    return value * value;
  }
};

/// Nanoseconds.
__device__ inline unsigned long long global_time() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

/// By every thread of a block, first and last thing.
__device__ inline void start_time(const RungOutput& output) {
  if (threadIdx.x == 0) output.times[blockIdx.x].start = global_time();
}
__device__ inline void end_time(const RungOutput& output) {
  __syncthreads();
  if (threadIdx.x == 0) output.times[blockIdx.x].end = global_time();
}

/// A thread's elements when all threads of the grid take turns: neighbours read neighbours.
template <class T>
__device__ double sum_in_turns(const Elements<T>& x) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  double sum = 0;
  for (Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; e < x.count; e += step) sum += x.square(e);
  return sum;
}

/// Runs a kernel of `blocks` × `threads` that leaves `sums` partial sums, and adds them on the host.
template <class T>
Status run_rung(void (*kernel)(Elements<T>, RungOutput), const char* name, int blocks, int threads, int sums,
                Executor& executor, Queue& queue, const ReduceCall& call, ReduceResult& result) noexcept {
  PartialSums partial(executor, queue);
  if (Status status = partial.allocate(sums, blocks); !status.ok()) return status;
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), 0, stream_of(queue)>>>(Elements<T>(call),
                                                                                                 partial.output());
  if (Status status = launched(name); !status.ok()) return status;
  return partial.add(result);
}

} // namespace tessera::cuda
