#pragma once

/// Memory for one run of a kernel. The destructor gives it back in stream order and does not wait. While the queue is
/// recorded, the memory is the recording's (recorded_memory.hpp).

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

  /// Gives back what the object held and allocates `bytes` bytes, aligned to 256 bytes, with undefined contents. The
  /// memory comes from the queue's executor, so that `executor` may also be one that only forwards calls to it.
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

/// Lays out arrays in one allocation, each at a multiple of 256 bytes.
class ScratchLayout {
 public:
  /// Returns the offset of an array of `bytes` bytes.
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
