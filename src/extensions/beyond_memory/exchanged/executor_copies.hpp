#pragma once

#include <memory>
#include <vector>

#include <tessera/executor.hpp>

namespace tessera::detail {

/// Copies to one executor's memory from the memories of other executors, in a queue of its own: directly where it
/// reaches them, else by way of the host.
class ExecutorCopies {
 public:
  explicit ExecutorCopies(Executor& to) : to_(to) {}

  /// Makes the queue. Copies come from so many sources.
  Status prepare(std::size_t sources);
  Queue& queue() noexcept { return *queue_; }
  /// Enqueues a copy, whose `source` is set and has the number `number`. It is done on return where it goes by way of
  /// the host. The elements must be complete.
  Status enqueue(const CopyCall& call, std::size_t number);
  /// Waits for the copies; there may be none, and no queue.
  Status synchronize() noexcept { return queue_ ? queue_->synchronize() : Status{}; }

 private:
  Status copy_by_host(const CopyCall& call, std::size_t number);
  Status queue_of(Executor& source, std::size_t number, Queue*& queue);

  Executor& to_;
  std::unique_ptr<Queue> queue_;
  std::vector<std::unique_ptr<Queue>> queues_of_sources_; ///< made when a copy first needs one
};

} // namespace tessera::detail
