#pragma once

/// Base of the executors whose memory is the host's: reference, OpenMP, TBB, and those of other people.
/// It brings memory, copies, queues (work is done when a call returns) and events (steady clock).

#include <tessera/executor.hpp>

namespace tessera {

class TESSERA_API HostQueue final : public Queue {
 public:
  ~HostQueue() override;
  Status synchronize() noexcept override { return {}; }
};

class TESSERA_API HostExecutor : public Executor {
 public:
  ~HostExecutor() override;
  Status allocate(std::size_t bytes, void*& memory) noexcept override;
  void free(void* memory) noexcept override;
  Status copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                 std::size_t width, std::size_t rows) noexcept override;
  Status copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device, std::size_t device_pitch,
                  std::size_t width, std::size_t rows) noexcept override;
  Status finish(Queue& queue, const FinishCall& call) noexcept override; ///< serial
  /// Threads that work begun here may use: fewer than the executor has inside a parallel region of its runtime.
  virtual int threads_here() const noexcept { return capabilities().threads; }
  Queue& default_queue() noexcept override { return queue_; }
  Status create_queue(std::unique_ptr<Queue>& queue) noexcept override;
  Status create_event(std::unique_ptr<Event>& event) noexcept override;

 private:
  HostQueue queue_;
};

/// Is this an executor in host memory that may not use all of its threads here?
TESSERA_API bool lacks_threads_here(const Executor& executor) noexcept;

} // namespace tessera
