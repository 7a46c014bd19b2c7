#include "stream_queue.hpp"

#include <new>
#include <utility>

#include "graph_recording.hpp"
#include "status.hpp"

namespace tessera::cuda {

cudaStream_t stream_of(Queue& queue) noexcept {
  auto& streams = static_cast<StreamQueue&>(queue);
  // If this fails, so does the launch that follows, which is checked.
  static_cast<void>(cudaSetDevice(streams.device()));
  return streams.stream();
}

Status StreamQueue::create(int device, DeviceMemory& memory, std::unique_ptr<StreamQueue>& queue) noexcept {
  if (Status status = check(cudaSetDevice(device), "choosing the device"); !status.ok()) return status;
  cudaStream_t stream = nullptr;
  if (Status status = check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream"); !status.ok())
    return status;
  queue.reset(new (std::nothrow) StreamQueue(device, memory, stream));
  if (queue) return {};
  static_cast<void>(cudaStreamDestroy(stream));
  return {StatusCode::OutOfMemory, {}};
}

Status StreamQueue::join(std::shared_ptr<SideQueues> side, cudaStream_t main) noexcept {
  Status status = side->add(stream_, main);
  if (status.ok()) side_ = std::move(side);
  return status;
}

StreamQueue::~StreamQueue() {
  if (side_) side_->remove(stream_);
  static_cast<void>(cudaSetDevice(device_));
  static_cast<void>(cudaStreamSynchronize(stream_));
  signals_.free();
  static_cast<void>(cudaStreamDestroy(stream_));
}

Status StreamQueue::synchronize() noexcept {
  if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
  return check(cudaStreamSynchronize(stream_), "waiting for a queue's work");
}

namespace {

/// What comes later in `second` waits for what is in `first`. An event may be destroyed before it has come to pass.
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
  return order(device_, static_cast<cudaStream_t>(stream), stream_);
}
Status StreamQueue::finish_before(void* stream) noexcept {
  return order(device_, stream_, static_cast<cudaStream_t>(stream));
}

Status StreamQueue::begin_recording() noexcept {
  if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
  if (recorded_) return {StatusCode::Rejected, "this queue is being recorded already"};
  std::unique_ptr<RecordedScratch> scratch;
  if (Status status = RecordedScratch::create(device_, memory_, scratch); !status.ok()) return status;
  // Thread-local: what cannot be captured (cudaMalloc, say) fails on this thread, and other threads may go on.
  Status status = check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "recording a queue");
  if (status.ok()) recorded_ = std::move(scratch);
  return status;
}

Status StreamQueue::end_recording(std::unique_ptr<Recording>& recording) noexcept {
  recording.reset();
  if (!recorded_) return {StatusCode::Rejected, "this queue is not being recorded"};
  std::unique_ptr<RecordedScratch> scratch = std::move(recorded_);
  cudaGraph_t graph = nullptr;
  if (Status status = check(cudaStreamEndCapture(stream_, &graph), "ending a queue's recording"); !status.ok())
    return status;
  return GraphRecording::create(device_, graph, std::move(scratch), recording);
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
  static_cast<void>(cudaSetDevice(device_));
  static_cast<void>(cudaEventDestroy(event_));
}

Status TimedEvent::record(Queue& queue) noexcept {
  return check(cudaEventRecord(event_, stream_of(queue)), "recording an event");
}

Status TimedEvent::synchronize() noexcept {
  if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
  return check(cudaEventSynchronize(event_), "waiting for an event");
}

Status TimedEvent::seconds_since(const Event& start, double& seconds) noexcept {
  if (Status status = synchronize(); !status.ok()) return status;
  float milliseconds = 0;
  const cudaEvent_t begin = static_cast<const TimedEvent&>(start).event_;
  Status status = check(cudaEventElapsedTime(&milliseconds, begin, event_), "reading the time between two events");
  if (status.ok()) seconds = static_cast<double>(milliseconds) * 1e-3;
  return status;
}

} // namespace tessera::cuda
