#pragma once

/// One device's memory. It comes from the executor's own pool and is stream-ordered if the device supports pools; else
/// it comes from cudaMalloc.
///
/// Stream-ordered means that work that is enqueued in the stream after allocate() may use the memory, and that free()
/// takes effect after the work that was enqueued before it. Neither call waits. Whenever its stream is waited for, the
/// pool gives back to the driver the unused memory that it holds beyond a quarter of the device's.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include <tessera/status.hpp>

namespace tessera::cuda {

class DeviceMemory {
 public:
  /// `limit`: the most bytes that may be allocated at any time; 0 means that there is no limit.
  DeviceMemory(int device, std::size_t limit) noexcept;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Allocates `bytes` bytes, aligned to 256 bytes, for later work of `stream`. On OutOfMemory `memory` is null and
  /// nothing else has changed. `may_wait`: whether the call may wait for the device if memory is short, which would
  /// spoil the capture of any stream. `counts`: whether the bytes count against the limit, as all memory must that a
  /// user asks for or that is as large.
  Status allocate(cudaStream_t stream, std::size_t bytes, void*& memory, bool may_wait = true,
                  bool counts = true) noexcept;
  void free(cudaStream_t stream, void* memory) noexcept;

  /// Allocates memory for one run of a kernel, as allocate() does. A small block is kept for the stream's next run, so
  /// that the driver is not asked again: that takes as long as a launch. Where memory is short, all kept blocks are
  /// given back first. While the stream is captured no block is kept, because the graph would go on using it.
  Status allocate_scratch(cudaStream_t stream, std::size_t bytes, void*& memory) noexcept;
  void free_scratch(cudaStream_t stream, void* memory) noexcept;
  /// Gives back the stream's kept block. Call it before the stream is destroyed.
  void forget(cudaStream_t stream) noexcept;

  /// Lets another device read and write this device's memory, where the two reach each other, so that copies between
  /// them need not go through the host. Does nothing where they do not.
  void let_reach(int other) noexcept;

  /// Returns a stream in whose order memory may be allocated and freed while other streams are captured. The stream is
  /// made when it is first asked for.
  Status stream(cudaStream_t& stream) noexcept;

 private:
  Status reserve(std::size_t bytes) noexcept;
  void give_back_kept() noexcept;
  cudaError_t take(cudaStream_t stream, std::size_t bytes, void*& memory) noexcept;
  Status out_of_memory(std::size_t bytes) const noexcept;

  int device_;
  std::size_t limit_;
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr; ///< Null: memory comes from cudaMalloc; cudaFree waits for the whole device.
  std::mutex mutex_;
  std::uint64_t seen_by_ = 0; ///< one bit for each of the first 64 devices that let_reach() was asked for
  std::size_t in_use_ = 0;
  std::unordered_map<void*, std::size_t> sizes_;
  std::unordered_map<cudaStream_t, void*> kept_; ///< Blocks that are counted as in use, though no kernel has them.
};

} // namespace tessera::cuda
