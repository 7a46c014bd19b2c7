#pragma once

/// Words in device memory for blocks that wait for one another, all 0 between kernels: a kernel that sets one sets it
/// back, so that no other kernel has to clear them before. A queue has its own, and so has a recording: 16 KiB, which
/// do not count against the memory limit.

#include <cuda_runtime_api.h>

#include <vector>

#include <tessera/backend/kernel.hpp>

#include "memory.hpp"

namespace tessera::cuda {

class Signals {
 public:
  Signals(DeviceMemory& memory, cudaStream_t stream) : memory_(memory), stream_(stream) {}
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// `count` of them, which are 0 for what is enqueued in the stream from now on. `may_wait`: as for memory.
  Status get(Index count, bool may_wait, int*& first) noexcept;
  bool empty() const noexcept { return made_.empty(); }
  /// When their last kernel has ended, or is in the stream.
  void free() noexcept;

 private:
  DeviceMemory& memory_;
  cudaStream_t stream_;
  std::vector<int*> made_; ///< the last ones are in use; those before were too few, and recorded kernels may have them
  Index count_ = 0;        ///< of the last ones
};

/// The queue's, or, while it is recorded, the recording's: as many as the kernel needs that is enqueued next.
Status signals_of(Queue& queue, Index count, int*& first) noexcept;

} // namespace tessera::cuda
