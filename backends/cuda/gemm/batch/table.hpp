#pragma once

/// Small tables that the host makes for a kernel: groups of a batch, and pointers to their operands.
///
/// A table is written to pinned memory, and the copy engine reads it in the order of the stream: the host does not
/// wait, and the caller's arrays need not outlive the call. A block of pinned memory is used again when its copy is
/// complete. A queue that is recording gets the bytes as arguments of kernels, which the recording keeps.

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

#include <tessera/status.hpp>

namespace tessera::cuda {

/// The blocks of pinned memory of one executor.
class PinnedTables {
 public:
  PinnedTables() = default;
  ~PinnedTables();
  PinnedTables(const PinnedTables&) = delete;
  PinnedTables& operator=(const PinnedTables&) = delete;

  /// Host memory for a table.
  struct Block {
    void* data = nullptr;
    std::size_t bytes = 0;
    cudaEvent_t copied = nullptr;
    bool pinned = false;
  };
  /// Takes a block of at least `bytes` bytes. Precondition: the stream's device is current.
  Status take(cudaStream_t stream, std::size_t bytes, Block& block) noexcept;
  /// Enqueues the copy of the first `bytes` bytes to `device`, and takes the block back, even if it fails.
  Status send(cudaStream_t stream, Block& block, std::size_t bytes, void* device) noexcept;

 private:
  static void release(Block& block) noexcept;

  std::mutex mutex_;
  std::vector<Block> kept_;
};

/// Enqueues a copy of `bytes` bytes to `device` as arguments of kernels.
Status send_as_arguments(cudaStream_t stream, const void* host, std::size_t bytes, void* device) noexcept;

} // namespace tessera::cuda
