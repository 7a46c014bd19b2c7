#pragma once

/// The base of executors that compute in host memory: reference, OpenMP, TBB and plug-ins of other authors.
/// It implements memory, copies, queues (work is done when a call returns) and events (the steady clock).

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
  /// Returns the number of threads that work started by this thread may use. Inside a parallel region of the executor's
  /// runtime it is smaller than capabilities().threads.
  virtual int threads_here() const noexcept { return capabilities().threads; }
  Queue& default_queue() noexcept override { return queue_; }
  Status create_queue(std::unique_ptr<Queue>& queue) noexcept override;
  Status create_event(std::unique_ptr<Event>& event) noexcept override;

 private:
  HostQueue queue_;
};

/// Is this a HostExecutor that may not use all of its threads from this thread?
TESSERA_API bool lacks_threads_here(const Executor& executor) noexcept;

} // namespace tessera
