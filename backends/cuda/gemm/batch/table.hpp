#pragma once

/// Small tables that the host makes for a kernel: groups of a batch, pointers to their operands.
///
/// A table is written into pinned memory, which the copy engine reads in the stream's order: the host does not wait,
/// and the caller's arrays need not outlive the call. Blocks are used again when their copy has been made. A queue that
/// records gets the bytes as kernels' arguments, which a recording keeps.

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

#include <tessera/status.hpp>

namespace tessera::cuda {

class PinnedTables {
 public:
  PinnedTables() = default;
  ~PinnedTables();
  PinnedTables(const PinnedTables&) = delete;
  PinnedTables& operator=(const PinnedTables&) = delete;

  /// Host memory for a table. The stream's device is current.
  struct Block {
    void* data = nullptr;
    std::size_t bytes = 0;
    cudaEvent_t copied = nullptr;
    bool pinned = false;
  };
  Status take(cudaStream_t stream, std::size_t bytes, Block& block) noexcept;
  /// Enqueues the copy of the first `bytes` bytes and takes the block back, in any case.
  Status send(cudaStream_t stream, Block& block, std::size_t bytes, void* device) noexcept;

 private:
  static void release(Block& block) noexcept;

  std::mutex mutex_;
  std::vector<Block> kept_;
};

/// Copies bytes by way of kernels' arguments.
Status send_as_arguments(cudaStream_t stream, const void* host, std::size_t bytes, void* device) noexcept;

} // namespace tessera::cuda
