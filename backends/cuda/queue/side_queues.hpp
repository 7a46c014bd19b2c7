#pragma once

/// The order between an executor's default queue and its other queues (side queues). Memory is allocated and freed in
/// the order of the default queue's work; these calls make that order hold for the side queues too. A program with one
/// queue pays nothing.
///
/// Streams are captured by these calls as well, because a wait between a captured stream and another one would spoil
/// the capture or draw the other stream into it.

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

  /// Adds the stream of a new side queue. Its work comes after the work that the default queue has been given so far.
  Status add(cudaStream_t stream) noexcept;
  void remove(cudaStream_t stream) noexcept;

  /// Puts all later work of the side queues after the work that the default queue has been given so far. The executor
  /// calls it after an allocation.
  Status put_after_main() noexcept;
  /// Puts all later work of `stream` after the work that the side queues have been given so far. The executor calls it
  /// before it frees memory.
  Status put_before(cudaStream_t stream) noexcept;

  /// Begin and end the capture of the default queue's stream or a side queue's. Meanwhile the work that the stream had
  /// been given before keeps its place in the order.
  Status begin_capture(cudaStream_t stream) noexcept;
  Status end_capture(cudaStream_t stream, cudaGraph_t& graph) noexcept;

 private:
  struct Member {
    cudaStream_t stream;
    cudaEvent_t given; ///< Recorded before another stream waits for it, and when a capture begins.
  };

  explicit SideQueues(int device) : device_(device) {}
  Status join(cudaStream_t stream) noexcept;
  Member* find(cudaStream_t stream) noexcept;

  int device_;
  std::mutex mutex_;
  std::vector<Member> members_; ///< The default queue's stream is the first.
};

} // namespace tessera::cuda
