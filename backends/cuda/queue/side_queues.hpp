#pragma once

/// The order between an executor's default queue and its other ones. Memory is allocated and freed in the order of the
/// default queue's work; with these calls that order holds for the others too. A program with one queue pays nothing.
/// Streams are captured by these calls as well, since a wait between a captured stream and another one would spoil the
/// capture, or draw the other one into it.

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include <tessera/status.hpp>

namespace tessera::cuda {

class SideQueues {
 public:
  static Status create(int device, cudaStream_t main, std::shared_ptr<SideQueues>& queues) noexcept;
  ~SideQueues();
  SideQueues(const SideQueues&) = delete;
  SideQueues& operator=(const SideQueues&) = delete;

  /// A new stream's work comes after what the default queue has been given so far.
  Status add(cudaStream_t stream) noexcept;
  void remove(cudaStream_t stream) noexcept;

  /// Their work from now on comes after what the default queue has been given so far: a new allocation.
  Status put_after_main() noexcept;
  /// What `stream` is given from now on comes after their work so far: memory that is to be freed.
  Status put_before(cudaStream_t stream) noexcept;

  /// Of the default queue or another one. What it had been given before still has its place in the order meanwhile.
  Status begin_capture(cudaStream_t stream) noexcept;
  Status end_capture(cudaStream_t stream, cudaGraph_t& graph) noexcept;

 private:
  struct Member {
    cudaStream_t stream;
    cudaEvent_t given; ///< recorded before it is waited for, and when a capture begins
  };

  explicit SideQueues(int device) : device_(device) {}
  Status join(cudaStream_t stream) noexcept;
  Member* find(cudaStream_t stream) noexcept;

  int device_;
  std::mutex mutex_;
  std::vector<Member> members_; ///< the default queue first
};

} // namespace tessera::cuda
