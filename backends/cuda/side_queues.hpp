#pragma once

/// The queues besides an executor's default one. Memory is allocated and freed in the order of the default queue's
/// work; with these two calls that order holds for the others too. A program with one queue pays nothing.

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include <tessera/status.hpp>

namespace tessera::cuda {

class SideQueues {
 public:
  static Status create(int device, std::shared_ptr<SideQueues>& queues) noexcept;
  ~SideQueues();
  SideQueues(const SideQueues&) = delete;
  SideQueues& operator=(const SideQueues&) = delete;

  /// A new stream's work comes after what `main` has been given so far.
  Status add(cudaStream_t stream, cudaStream_t main) noexcept;
  void remove(cudaStream_t stream) noexcept;

  /// The side queues' work from now on comes after what `main` has been given so far: a new allocation.
  Status put_after(cudaStream_t main) noexcept;
  /// Their work so far comes before what `main` is given from now on: memory that is to be freed.
  Status put_before(cudaStream_t main) noexcept;

 private:
  SideQueues(int device, cudaEvent_t event) : device_(device), event_(event) {}

  int device_;
  cudaEvent_t event_; ///< a wait refers to the last record before it, so one event will do
  std::mutex mutex_;
  std::vector<cudaStream_t> streams_;
};

} // namespace tessera::cuda
