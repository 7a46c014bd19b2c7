#pragma once

/// Streams as queues, and CUDA's events as events.

#include <cuda_runtime_api.h>

#include <memory>

#include <tessera/executor.hpp>
#include <tessera/recording.hpp>

#include "recorded_scratch.hpp"
#include "side_queues.hpp"
#include "stream.hpp"

namespace tessera::cuda {

class StreamQueue final : public Queue, public Recorder {
 public:
  /// Does not wait for the legacy default stream, nor makes it wait.
  static Status create(int device, DeviceMemory& memory, std::unique_ptr<StreamQueue>& queue) noexcept;
  ~StreamQueue() override;
  Status synchronize() noexcept override;
  void* native() noexcept override { return stream_; }
  Status start_after(void* stream) noexcept override;
  Status finish_before(void* stream) noexcept override;
  Status begin_recording() noexcept override;
  Status end_recording(std::unique_ptr<Recording>& recording) noexcept override;

  /// Makes this one of an executor's side queues, for as long as it lives.
  Status join(std::shared_ptr<SideQueues> side, cudaStream_t main) noexcept;

  int device() const noexcept { return device_; }
  cudaStream_t stream() const noexcept { return stream_; }
  DeviceMemory& memory() const noexcept { return memory_; }
  Signals& signals() noexcept { return signals_; }
  /// Null while it is not recorded.
  RecordedScratch* recorded_scratch() const noexcept { return recorded_.get(); }

 private:
  StreamQueue(int device, DeviceMemory& memory, cudaStream_t stream)
      : device_(device), memory_(memory), stream_(stream), signals_(memory, stream) {}
  int device_;
  DeviceMemory& memory_; ///< its executor's
  cudaStream_t stream_;
  Signals signals_;
  std::shared_ptr<SideQueues> side_; ///< null: the default queue
  std::unique_ptr<RecordedScratch> recorded_;
};

class TimedEvent final : public Event {
 public:
  static Status create(int device, std::unique_ptr<Event>& event) noexcept;
  ~TimedEvent() override;
  Status record(Queue& queue) noexcept override;
  Status synchronize() noexcept override;
  Status seconds_since(const Event& start, double& seconds) noexcept override;

 private:
  TimedEvent(int device, cudaEvent_t event) : device_(device), event_(event) {}
  int device_;
  cudaEvent_t event_;
};

} // namespace tessera::cuda
