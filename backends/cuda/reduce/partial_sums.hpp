#pragma once

/// The results of a rung's kernel. The kernel writes partial sums and the time of each of its blocks. The host fetches
/// both, adds the sums in order and takes the first start and the last end.

#include <cuda_runtime_api.h>

#include <vector>

#include <tessera/backend/kernel.hpp>

#include "cuda/queue/scratch.hpp"

namespace tessera::cuda {

/// The time of a block in nanoseconds, by the device's global timer. All multiprocessors share this timer and it runs
/// at one rate, so that the times of different blocks can be compared. Neither holds for a multiprocessor's cycle
/// counter. On older devices the timer ticks at most once a µs.
struct BlockTime {
  unsigned long long start;
  unsigned long long end;
};

/// The memory in which a rung's kernel leaves its results. `sums` has one entry for each partial sum, `times` one for
/// each block. The sums of whole numbers are host::WholeSum, which is as large as a double.
struct RungOutput {
  double* sums = nullptr;
  BlockTime* times = nullptr;
};

/// Allocates the memory for a rung's results and adds them on the host.
class PartialSums {
 public:
  PartialSums(Executor& executor, Queue& queue) noexcept : executor_(executor), queue_(queue) {}
  Status allocate(Index sums, int blocks) noexcept;
  RungOutput output() const noexcept;
  /// Waits for the kernel, fetches its results and sets the sum and `device_seconds` of `result`.
  Status add(ReduceResult& result) noexcept;
  /// Does what add() does, of whole numbers.
  Status add_whole(const ReduceCall& call, ReduceResult& result) noexcept;

 private:
  /// Waits for the kernel, fetches its partial sums and sets the `device_seconds` of `result`.
  template <class Sum>
  Status fetch(std::vector<Sum>& sums, ReduceResult& result);

  Executor& executor_;
  Queue& queue_;
  Index sums_ = 0;
  int blocks_ = 0;
  Scratch scratch_;
};

} // namespace tessera::cuda
