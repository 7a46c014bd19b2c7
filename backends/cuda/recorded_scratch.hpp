#pragma once

/// Scratch memory of the kernels of a recording: the recording's own, for as long as it lives, and used again by each
/// kernel that comes after the ones before it. Memory nodes of a graph, which allocating while a stream is captured
/// makes, would each end and begin between two kernels: the second one could not be launched early (early_launch.cuh).

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "memory.hpp"
#include "signals.hpp"

namespace tessera::cuda {

class RecordedScratch {
 public:
  static Status create(int device, DeviceMemory& memory, std::unique_ptr<RecordedScratch>& scratch) noexcept;
  /// The recording's last replay must have ended.
  ~RecordedScratch();
  RecordedScratch(const RecordedScratch&) = delete;
  RecordedScratch& operator=(const RecordedScratch&) = delete;

  /// For work that is recorded from now on, until it is given back. Aligned to 256 bytes; contents undefined.
  Status take(std::size_t bytes, void*& memory) noexcept;
  void give_back(void* memory) noexcept;
  Signals& signals() noexcept { return signals_; }

  /// Waits until all of it is there. Not while the stream is captured.
  Status settle() noexcept;

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
    bool taken;
  };

  RecordedScratch(int device, DeviceMemory& memory, cudaStream_t stream)
      : device_(device), memory_(memory), stream_(stream), signals_(memory, stream) {}

  int device_;
  DeviceMemory& memory_;
  cudaStream_t stream_; ///< its own: nothing is allocated in the one that is captured
  std::vector<Block> blocks_;
  Signals signals_;
};

} // namespace tessera::cuda
