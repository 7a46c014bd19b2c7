#pragma once

/// Copies between host and device. Pinned host memory and small copies go directly. Large copies of pageable memory
/// go through pinned buffers: a few threads each fill one buffer while the device empties their other one. The
/// driver would do that with a single thread.

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

  /// Complete when they return. The stream's device is current. After a failure nothing is under way.
  Status copy_in(cudaStream_t stream, void* device, const void* host, const CopyShape& shape) noexcept;
  Status copy_out(cudaStream_t stream, void* host, const void* device, const CopyShape& shape) noexcept;

 private:
  /// One thread's two buffers.
  struct Buffers {
    char* buffer[2] = {};
    cudaEvent_t emptied[2] = {}; ///< the device has read or written the buffer
    Status status;
  };
  struct Transfer;

  bool prepare() noexcept;
  void release() noexcept;
  template <class Work>
  Status run_on_threads(Transfer& transfer, Work work) noexcept;
  Status carry_in(Buffers& own, Transfer& transfer) const noexcept;
  Status carry_out(Buffers& own, Transfer& transfer) const noexcept;

  int device_;
  int threads_;
  std::mutex mutex_; ///< one staged copy at a time: they share one bus
  bool prepared_ = false;
  std::unique_ptr<CopyThreads> copy_threads_;
  std::vector<Buffers> buffers_;
  char* pinned_ = nullptr;
};

} // namespace tessera::cuda
