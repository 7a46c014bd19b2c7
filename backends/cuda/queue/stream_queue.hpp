#pragma once

/// Implements queues by CUDA's streams and events by CUDA's events.

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <utility>

#include <tessera/executor.hpp>
#include <tessera/performance/recording.hpp>

#include "recorded_memory.hpp"
#include "side_queues.hpp"
#include "stream.hpp"

namespace tessera::cuda {

class StreamQueue final : public Queue, public Recorder {
 public:
  /// Makes a queue whose stream neither waits for the legacy default stream nor makes it wait.
  static Status create(int device, Executor& executor, DeviceMemory& memory,
                       std::unique_ptr<StreamQueue>& queue) noexcept;
  /// Makes a queue of a stream that is not its own; see Executor::adopt_stream(). Returns null without memory.
  static std::unique_ptr<StreamQueue> adopt(int device, Executor& executor, DeviceMemory& memory,
                                            cudaStream_t stream) noexcept;
  ~StreamQueue() override;
  Status synchronize() noexcept override;
  void* native() noexcept override { return stream_; }
  Status start_after(void* stream) noexcept override;
  Status finish_before(void* stream) noexcept override;
  Status wait(Event& event) noexcept override;
  Status begin_recording() noexcept override;
  Status end_recording(std::unique_ptr<Recording>& recording) noexcept override;

  /// Gives the queue its place among its executor's queues for as long as it lives. Call it before the queue is
  /// recorded.
  void join(std::shared_ptr<SideQueues> queues) noexcept { queues_ = std::move(queues); }

  int device() const noexcept { return device_; }
  cudaStream_t stream() const noexcept { return stream_; }
  DeviceMemory& memory() const noexcept { return memory_; }
  Signals& signals() noexcept { return signals_; }
  /// Returns the memory of the recording that is under way, or null if there is none.
  RecordedMemory* recorded_memory() const noexcept { return recorded_.get(); }
  /// Returns a lock. As long as it lives, no recording of this queue begins or ends.
  std::unique_lock<std::mutex> hold() noexcept { return std::unique_lock(recording_); }

 private:
  StreamQueue(int device, Executor& executor, DeviceMemory& memory, cudaStream_t stream, bool owns_stream)
      : device_(device),
        executor_(executor),
        memory_(memory),
        stream_(stream),
        owns_stream_(owns_stream),
        signals_(memory, stream) {}
  int device_;
  Executor& executor_;
  DeviceMemory& memory_; ///< The executor's memory.
  cudaStream_t stream_;
  bool owns_stream_;
  Signals signals_;
  std::shared_ptr<SideQueues> queues_; ///< Null: the stream is not the queue's own.
  std::mutex recording_;
  std::unique_ptr<RecordedMemory> recorded_;
};

class TimedEvent final : public Event {
 public:
  static Status create(int device, std::unique_ptr<Event>& event) noexcept;
  ~TimedEvent() override;
  Status record(Queue& queue) noexcept override;
  Status synchronize() noexcept override;
  Status seconds_since(const Event& start, double& seconds) noexcept override;
  cudaEvent_t event() const noexcept { return event_; }

 private:
  TimedEvent(int device, cudaEvent_t event) : device_(device), event_(event) {}
  int device_;
  cudaEvent_t event_;
};

} // namespace tessera::cuda
