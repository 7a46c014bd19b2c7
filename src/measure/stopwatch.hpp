#pragma once

/// Times work with the executor's own events: the device's clock on a device, the steady clock on the processor.

#include <memory>

#include <tessera/executor.hpp>

namespace tessera::compare_app {

class Stopwatch {
 public:
  /// Throws OutOfMemory or DeviceError.
  explicit Stopwatch(Executor& executor) : executor_(executor) {
    throw_if_failed(executor.create_event(start_));
    throw_if_failed(executor.create_event(stop_));
  }

  /// Runs `work`, which returns a Status, and waits for it. What fails later on the device is in the Status as well.
  template <class Work>
  Status time(Work&& work) {
    Queue& queue = executor_.default_queue();
    if (Status status = queue.synchronize(); !status.ok()) return status;
    if (Status status = start_->record(queue); !status.ok()) return status;
    if (Status status = work(); !status.ok()) return status;
    if (Status status = stop_->record(queue); !status.ok()) return status;
    if (Status status = stop_->seconds_since(*start_, seconds_); !status.ok()) return status;
    return queue.synchronize();
  }
  double seconds() const { return seconds_; }

 private:
  Executor& executor_;
  std::unique_ptr<Event> start_, stop_;
  double seconds_ = 0;
};

} // namespace tessera::compare_app
