#include "stream_queue.hpp"

#include <new>
#include <utility>

#include <tessera/detail/floating_point.hpp>

#include "cuda/device/relaxed_capture.hpp"
#include "cuda/device/status.hpp"
#include "graph_recording.hpp"

namespace tessera::cuda {

cudaStream_t stream_of(Queue& queue) noexcept {
  auto& streams = static_cast<StreamQueue&>(queue);
  // If this fails, the launch that follows fails too, and that launch is checked.
  static_cast<void>(cudaSetDevice(streams.device()));
  return streams.stream();
}

Status StreamQueue::create(int device, Executor& executor, DeviceMemory& memory,
                           std::unique_ptr<StreamQueue>& queue) noexcept {
  if (Status status = check(cudaSetDevice(device), "choosing the device"); !status.ok()) return status;
  cudaStream_t stream = nullptr;
  if (Status status = check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream"); !status.ok())
    return status;
  queue.reset(new (std::nothrow) StreamQueue(device, executor, memory, stream, true));
  if (queue) return {};
  static_cast<void>(cudaStreamDestroy(stream));
  return {StatusCode::OutOfMemory, {}};
}

std::unique_ptr<StreamQueue> StreamQueue::adopt(int device, Executor& executor, DeviceMemory& memory,
                                                cudaStream_t stream) noexcept {
  return std::unique_ptr<StreamQueue>(new (std::nothrow) StreamQueue(device, executor, memory, stream, false));
}

StreamQueue::~StreamQueue() {
  const detail::ContractArithmetic contract;
  if (queues_) queues_->remove(stream_);
  static_cast<void>(cudaSetDevice(device_));
  static_cast<void>(cudaStreamSynchronize(stream_));
  signals_.free();
  memory_.forget(stream_);
  if (owns_stream_) static_cast<void>(cudaStreamDestroy(stream_));
}

Status StreamQueue::synchronize() noexcept {
  const detail::ContractArithmetic contract;
  const RelaxedCaptureMode relaxed;
  if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
  return check(cudaStreamSynchronize(stream_), "waiting for a queue's work");
}

namespace {

/// Makes later work in `second` wait for the work that is in `first` now. CUDA allows the event to be destroyed before
/// it has occurred.
Status order(int device, cudaStream_t first, cudaStream_t second) noexcept {
  if (Status status = check(cudaSetDevice(device), "choosing the device"); !status.ok()) return status;
  cudaEvent_t event = nullptr;
  if (Status status = check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event"); !status.ok())
    return status;
  Status status = check(cudaEventRecord(event, first), "recording an event in a stream");
  if (status.ok()) status = check(cudaStreamWaitEvent(second, event, 0), "letting a stream wait for an event");
  static_cast<void>(cudaEventDestroy(event));
  return status;
}

} // namespace

Status StreamQueue::start_after(void* stream) noexcept {
  const detail::ContractArithmetic contract;
  return order(device_, static_cast<cudaStream_t>(stream), stream_);
}
Status StreamQueue::finish_before(void* stream) noexcept {
  const detail::ContractArithmetic contract;
  return order(device_, stream_, static_cast<cudaStream_t>(stream));
}

Status StreamQueue::wait(Event& event) noexcept {
  const detail::ContractArithmetic contract;
  const auto* const recorded = dynamic_cast<const TimedEvent*>(&event);
  if (recorded == nullptr) return event.synchronize(); // an event of another backend
  if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
  return check(cudaStreamWaitEvent(stream_, recorded->event(), 0), "letting a queue wait for an event");
}

Status StreamQueue::begin_recording() noexcept {
  const detail::ContractArithmetic contract;
  if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
  const auto held = hold();
  if (recorded_) return {StatusCode::Rejected, "this queue is being recorded already"};
  if (!queues_)
    return {StatusCode::Rejected, "the stream of this queue is not Tessera's, and only its owner records it"};
  std::unique_ptr<RecordedMemory> recorded;
  if (Status status = RecordedMemory::create(executor_, memory_, recorded); !status.ok()) return status;
  Status status = queues_->begin_capture(stream_);
  if (status.ok()) recorded_ = std::move(recorded);
  return status;
}

Status StreamQueue::end_recording(std::unique_ptr<Recording>& recording) noexcept {
  const detail::ContractArithmetic contract;
  recording.reset();
  std::unique_ptr<RecordedMemory> recorded; // Outlives `held`, because its destructor frees memory.
  cudaGraph_t graph = nullptr;
  {
    const auto held = hold();
    if (!recorded_) return {StatusCode::Rejected, "this queue is not being recorded"};
    recorded = std::move(recorded_);
    if (Status status = queues_->end_capture(stream_, graph); !status.ok()) {
      if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
      return status;
    }
  }
  return GraphRecording::create(device_, graph, std::move(recorded), recording);
}

Status TimedEvent::create(int device, std::unique_ptr<Event>& event) noexcept {
  if (Status status = check(cudaSetDevice(device), "choosing the device"); !status.ok()) return status;
  cudaEvent_t made = nullptr;
  if (Status status = check(cudaEventCreate(&made), "making an event"); !status.ok()) return status;
  event.reset(new (std::nothrow) TimedEvent(device, made));
  if (event) return {};
  static_cast<void>(cudaEventDestroy(made));
  return {StatusCode::OutOfMemory, {}};
}

TimedEvent::~TimedEvent() {
  const detail::ContractArithmetic contract;
  static_cast<void>(cudaSetDevice(device_));
  static_cast<void>(cudaEventDestroy(event_));
}

Status TimedEvent::record(Queue& queue) noexcept {
  const detail::ContractArithmetic contract;
  return check(cudaEventRecord(event_, stream_of(queue)), "recording an event");
}

Status TimedEvent::synchronize() noexcept {
  const detail::ContractArithmetic contract;
  const RelaxedCaptureMode relaxed;
  if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
  return check(cudaEventSynchronize(event_), "waiting for an event");
}

Status TimedEvent::seconds_since(const Event& start, double& seconds) noexcept {
  const detail::ContractArithmetic contract;
  if (Status status = synchronize(); !status.ok()) return status;
  float milliseconds = 0;
  const cudaEvent_t begin = static_cast<const TimedEvent&>(start).event_;
  Status status = check(cudaEventElapsedTime(&milliseconds, begin, event_), "reading the time between two events");
  if (status.ok()) seconds = static_cast<double>(milliseconds) * 1e-3;
  return status;
}

} // namespace tessera::cuda
