#pragma once

/// Memory of a recording, for as long as it lives: scratch memory of its kernels, used again by each kernel that comes
/// after the ones before it, and what is allocated and freed while the default queue is recorded. Memory nodes of a
/// graph, which allocating in a captured stream makes, would each end and begin between two kernels: the second one
/// could not be launched early (early_launch.cuh). And they are there only while the graph runs.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <tessera/executor.hpp>

#include "memory.hpp"
#include "signals.hpp"

namespace tessera::cuda {

class RecordedMemory {
 public:
  /// `executor`: whose `memory` it is.
  static Status create(Executor& executor, DeviceMemory& memory, std::unique_ptr<RecordedMemory>& recorded) noexcept;
  /// The recording's last replay must have ended.
  ~RecordedMemory();
  RecordedMemory(const RecordedMemory&) = delete;
  RecordedMemory& operator=(const RecordedMemory&) = delete;

  /// For work that is recorded from now on, until it is given back. Aligned to 256 bytes; contents undefined.
  Status take(std::size_t bytes, void*& memory) noexcept;
  /// False if it is not the recording's.
  bool give_back(void* memory) noexcept;
  Signals& signals() noexcept { return signals_; }

  /// What a user allocates: there at once, for all queues, and the user's own if it is not freed while the recording
  /// goes on.
  Status allocate(std::size_t bytes, void*& memory) noexcept;
  /// What a user frees. Replays may use it: it goes back to the executor when the recording is destroyed.
  void free(void* memory) noexcept;

  /// The stream in whose order the memory comes and goes: not the one that is captured.
  cudaStream_t stream() const noexcept { return stream_; }
  /// The recording has ended: waits until all of its memory is there. Not while the stream is captured.
  Status settle() noexcept;

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
    bool taken; ///< when the recording has ended: a user's own
  };

  RecordedMemory(Executor& executor, DeviceMemory& memory, cudaStream_t stream)
      : executor_(executor), memory_(memory), stream_(stream), signals_(memory, stream) {}

  Executor& executor_;
  DeviceMemory& memory_;
  cudaStream_t stream_;
  std::mutex mutex_; ///< for the blocks: other threads may allocate meanwhile
  std::vector<Block> blocks_;
  std::vector<void*> kept_; ///< from before the recording, and freed during it
  Signals signals_;
};

} // namespace tessera::cuda
