#pragma once

/// Signals are words in device memory through which the blocks of a kernel wait for one another. They are all 0 between
/// kernels: a kernel that sets a signal sets it back, so that no kernel has to clear them first. Each queue and each
/// recording has its own signals, usually 16 KiB. They do not count against the memory limit.

#include <cuda_runtime_api.h>

#include <vector>

#include <tessera/backend/kernel.hpp>

#include "cuda/memory/memory.hpp"

namespace tessera::cuda {

class Signals {
 public:
  Signals(DeviceMemory& memory, cudaStream_t stream) : memory_(memory), stream_(stream) {}
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Sets `first` to the first of `count` signals. They are 0 for work that is enqueued in the stream from now on.
  /// `may_wait`: see DeviceMemory::allocate().
  Status get(Index count, bool may_wait, int*& first) noexcept;
  bool empty() const noexcept { return made_.empty(); }
  /// Frees the signals. Precondition: their last kernel has ended or is in the stream.
  void free() noexcept;

 private:
  DeviceMemory& memory_;
  cudaStream_t stream_;
  std::vector<int*> made_; ///< The last allocation is in use. Recorded kernels may use the earlier, smaller ones.
  Index count_ = 0;        ///< Signals in the last allocation.
};

/// Sets `first` to `count` signals for the kernel that is enqueued next. They are the queue's own or, while the queue
/// is recorded, the recording's.
Status signals_of(Queue& queue, Index count, int*& first) noexcept;

} // namespace tessera::cuda
