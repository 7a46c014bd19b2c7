#pragma once

/// Implements queues by in-order command queues, and events by markers that keep the device's times.

#include <memory>
#include <utility>

#include <tessera/executor.hpp>

#include "opencl/memory/memory.hpp"

namespace tessera::opencl {

class CommandQueue final : public Queue {
 public:
  static Status create(DeviceMemory& memory, std::unique_ptr<CommandQueue>& queue) noexcept;
  ~CommandQueue() override;
  Status synchronize() noexcept override;
  Status start_after(void* stream) noexcept override; ///< a cl_command_queue of this executor's context
  Status finish_before(void* stream) noexcept override;
  Status wait(Event& event) noexcept override;

  cl_command_queue get() const noexcept { return queue_; }
  DeviceMemory& memory() const noexcept { return memory_; }
  Context& context() const noexcept { return memory_.context(); }

 private:
  CommandQueue(DeviceMemory& memory, cl_command_queue queue) : memory_(memory), queue_(queue) {}
  DeviceMemory& memory_;
  cl_command_queue queue_;
};

class MarkerEvent final : public Event {
 public:
  explicit MarkerEvent(Context& context) : context_(context) {}
  ~MarkerEvent() override;
  Status record(Queue& queue) noexcept override;
  Status synchronize() noexcept override;
  Status seconds_since(const Event& start, double& seconds) noexcept override;

  /// Null before the first record().
  cl_event get() const noexcept { return event_; }
  const Context& context() const noexcept { return context_; }

 private:
  Context& context_;
  cl_event event_ = nullptr;
};

/// The queue as this backend's, which every queue is that its kernels and operations get.
inline CommandQueue& command_queue(Queue& queue) noexcept { return static_cast<CommandQueue&>(queue); }

} // namespace tessera::opencl
