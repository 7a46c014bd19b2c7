#pragma once

/// What every rung of the ladder shares: a kernel writes partial sums and the time of each of its blocks; the host
/// fetches both, adds the sums in order and takes the first start and the last end.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>

#include "cuda/memory/scratch.hpp"

namespace tessera::cuda {

/// By the device's global timer, in nanoseconds. It is one clock for all multiprocessors, runs at one rate, and so
/// can be compared between blocks; a multiprocessor's own cycle counter is neither. It ticks at most once a µs on
/// older devices.
struct BlockTime {
  unsigned long long start;
  unsigned long long end;
};

/// Where a kernel leaves its results: `sums` has one entry a partial sum, `times` one a block.
struct RungOutput {
  double* sums = nullptr;
  BlockTime* times = nullptr;
};

class PartialSums {
 public:
  PartialSums(Executor& executor, Queue& queue) noexcept : executor_(executor), queue_(queue) {}
  Status allocate(Index sums, int blocks) noexcept;
  RungOutput output() const noexcept;
  /// Waits for the kernel.
  Status add(ReduceResult& result) noexcept;

 private:
  Executor& executor_;
  Queue& queue_;
  Index sums_ = 0;
  int blocks_ = 0;
  Scratch scratch_;
};

} // namespace tessera::cuda
