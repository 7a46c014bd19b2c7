#pragma once

/// One device's memory: stream-ordered, from a pool of our own, where the device supports that; plain otherwise.
///
/// Stream-ordered means that memory is there for work enqueued in the stream after the call, and that freeing takes
/// effect after the work enqueued before it; neither waits. A pool gives back to the driver, whenever its stream is
/// waited for, what it holds unused beyond a quarter of the device.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>
#include <unordered_map>

#include <tessera/status.hpp>

namespace tessera::cuda {

class DeviceMemory {
 public:
  /// `limit`: most bytes to hand out at a time; 0: all there are.
  DeviceMemory(int device, std::size_t limit) noexcept;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// On OutOfMemory `memory` is null and everything else is as before. Aligned to 256 bytes. `may_wait`: whether it may
  /// wait for the device where memory is short, which would spoil the capture of any stream. `counts`: against the
  /// limit, as all does that is a user's, or as large.
  Status allocate(cudaStream_t stream, std::size_t bytes, void*& memory, bool may_wait = true,
                  bool counts = true) noexcept;
  void free(cudaStream_t stream, void* memory) noexcept;

  /// A stream in whose order memory may come and go while others are captured. Made when it is first asked for.
  Status stream(cudaStream_t& stream) noexcept;

 private:
  Status reserve(std::size_t bytes) noexcept;
  cudaError_t take(cudaStream_t stream, std::size_t bytes, void*& memory) noexcept;
  Status out_of_memory(std::size_t bytes) const noexcept;

  int device_;
  std::size_t limit_;
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr; ///< null: cudaMalloc and cudaFree, which wait for the whole device
  std::mutex mutex_;
  std::size_t in_use_ = 0;
  std::unordered_map<void*, std::size_t> sizes_;
};

} // namespace tessera::cuda
