#pragma once

/// The memory that a recording holds as long as it lives. It is scratch memory of the recorded kernels, where a later
/// kernel uses an earlier kernel's blocks again, and memory that users allocate and free while the default queue is
/// recorded.
///
/// Allocating in the captured stream would make memory nodes in the graph instead. Such nodes would lie between two
/// kernels, so that programmatic dependent launch could not start the second kernel early (programmatic_launch.cuh),
/// and their memory would be there only while the graph runs.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <tessera/executor.hpp>

#include "cuda/memory/memory.hpp"
#include "signals.hpp"

namespace tessera::cuda {

class RecordedMemory {
 public:
  /// `executor`: the executor that `memory` belongs to.
  static Status create(Executor& executor, DeviceMemory& memory, std::unique_ptr<RecordedMemory>& recorded) noexcept;
  /// Precondition: the recording's last replay has ended.
  ~RecordedMemory();
  RecordedMemory(const RecordedMemory&) = delete;
  RecordedMemory& operator=(const RecordedMemory&) = delete;

  /// Takes memory for work that is recorded from now on, until give_back(). It is aligned to 256 bytes; its contents
  /// are undefined.
  Status take(std::size_t bytes, void*& memory) noexcept;
  /// Makes memory from take() available again. Returns false if `memory` is not the recording's.
  bool give_back(void* memory) noexcept;
  Signals& signals() noexcept { return signals_; }

  /// Allocates memory for a user. All queues may use it at once. It stays the user's own if it is not freed before the
  /// recording ends.
  Status allocate(std::size_t bytes, void*& memory) noexcept;
  /// Frees memory of a user. Because replays may use it, it goes back to the executor when the recording is destroyed.
  void free(void* memory) noexcept;

  /// Returns the stream in whose order the memory is allocated and freed. It is not the captured stream.
  cudaStream_t stream() const noexcept { return stream_; }
  /// Waits until all of the recording's memory is there. Precondition: the capture has ended.
  Status settle() noexcept;

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
    bool taken; ///< In use now. After the recording has ended, it means that the block is a user's own.
  };

  RecordedMemory(Executor& executor, DeviceMemory& memory, cudaStream_t stream)
      : executor_(executor), memory_(memory), stream_(stream), signals_(memory, stream) {}

  Executor& executor_;
  DeviceMemory& memory_;
  cudaStream_t stream_;
  std::mutex mutex_; ///< Guards the blocks, because other threads may allocate meanwhile.
  std::vector<Block> blocks_;
  std::vector<void*> kept_; ///< Memory from before the recording that was freed during it.
  Signals signals_;
};

} // namespace tessera::cuda
