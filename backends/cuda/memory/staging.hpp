#pragma once

/// Copies between host and device. Copies of pinned host memory and small copies go directly; up to 4 KiB come to the
/// host by way of one pinned buffer. Large copies of pageable memory go through pinned buffers: each of a few threads
/// fills one of its two buffers while the device empties the other. The driver would use a single thread.

#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <tessera/status.hpp>

#include "copy_shape.hpp"
#include "copy_threads.hpp"

namespace tessera::cuda {

class Staging {
 public:
  Staging(int device, int threads) noexcept : device_(device), threads_(threads) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Copy between host and device. A copy is complete when the call returns; after a failure no part of it is under
  /// way. Precondition: the stream's device is current.
  Status copy_in(cudaStream_t stream, void* device, const void* host, const CopyShape& shape) noexcept;
  Status copy_out(cudaStream_t stream, void* host, const void* device, const CopyShape& shape) noexcept;

  /// Enqueue a copy between host and device and return at once where the host's memory is page-locked. Else they do
  /// what copy_in() and copy_out() do.
  Status start_in(cudaStream_t stream, void* device, const void* host, const CopyShape& shape) noexcept;
  Status start_out(cudaStream_t stream, void* host, const void* device, const CopyShape& shape) noexcept;

 private:
  /// The two buffers of one copy thread.
  struct Buffers {
    char* buffer[2] = {};
    cudaEvent_t emptied[2] = {}; ///< The device has read or written the buffer.
    Status status;
  };
  struct Transfer;

  bool prepare() noexcept;
  void release() noexcept;
  template <class Work>
  Status run_on_threads(Transfer& transfer, Work work) noexcept;
  Status carry_in(Buffers& own, Transfer& transfer) const noexcept;
  Status carry_out(Buffers& own, Transfer& transfer) const noexcept;
  bool prepare_fetch() noexcept;
  Status fetch(cudaStream_t stream, void* host, const void* device, std::size_t bytes) const noexcept;

  int device_;
  int threads_;
  std::mutex mutex_; ///< Lets one staged copy run at a time, because all of them share one bus.
  bool prepared_ = false;
  std::unique_ptr<CopyThreads> copy_threads_;
  std::vector<Buffers> buffers_;
  char* pinned_ = nullptr;
  std::mutex fetch_mutex_; ///< Held while a few bytes come to the host in `fetched_`.
  bool fetch_prepared_ = false;
  void* fetched_ = nullptr;
};

} // namespace tessera::cuda
