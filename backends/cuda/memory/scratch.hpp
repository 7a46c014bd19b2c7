#pragma once

/// Memory for one kernel run, given back in stream order when the object goes: no wait. While the queue is recorded it
/// is the recording's (recorded_memory.hpp).

#include <cuda_runtime_api.h>

#include <cstddef>

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

class DeviceMemory;
class RecordedMemory;

class Scratch {
 public:
  Scratch() = default;
  ~Scratch() { release(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Gives back what it held, then allocates from the queue's own memory, so that the executor may also be one that
  /// only forwards to ours. Aligned to 256 bytes; contents undefined.
  Status allocate(Executor& executor, Queue& queue, std::size_t bytes) noexcept;

  void* data() const noexcept { return data_; }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void release() noexcept;

  DeviceMemory* memory_ = nullptr;
  RecordedMemory* recorded_ = nullptr;
  cudaStream_t stream_ = nullptr;
  void* data_ = nullptr;
};

/// Places in one allocation, 256 bytes apart.
class ScratchLayout {
 public:
  std::size_t add(Index bytes) {
    const std::size_t at = size_;
    size_ += (static_cast<std::size_t>(bytes) + 255) / 256 * 256;
    return at;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

} // namespace tessera::cuda
