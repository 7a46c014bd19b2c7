#include "side_queues.hpp"

#include <algorithm>
#include <new>

#include "cuda/device/status.hpp"

namespace tessera::cuda {
namespace {

bool is_captured(cudaStream_t stream) noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

/// Makes the work that `later` is given from now on wait for the work that `earlier` has been given so far. `given` is
/// `earlier`'s event. If `earlier` is captured, the event was recorded when the capture began, and `later` waits for
/// the work before it. If `later` is captured, it does not wait; end_capture() restores the order.
Status order(cudaStream_t earlier, cudaEvent_t given, cudaStream_t later) noexcept {
  if (is_captured(later)) return {};
  cudaError_t error = is_captured(earlier) ? cudaSuccess : cudaEventRecord(given, earlier);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(later, given, 0);
  return check(error, "ordering two queues");
}

} // namespace

Status SideQueues::create(int device, cudaStream_t main, std::shared_ptr<SideQueues>& queues) noexcept try {
  if (Status status = check(cudaSetDevice(device), "choosing the device"); !status.ok()) return status;
  queues.reset(new SideQueues(device));
  return queues->join(main);
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

SideQueues::~SideQueues() {
  static_cast<void>(cudaSetDevice(device_));
  for (const Member& member : members_) static_cast<void>(cudaEventDestroy(member.given));
}

Status SideQueues::join(cudaStream_t stream) noexcept try {
  members_.reserve(members_.size() + 1);
  cudaEvent_t event = nullptr;
  if (Status status = check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event"); !status.ok())
    return status;
  members_.push_back({stream, event});
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

SideQueues::Member* SideQueues::find(cudaStream_t stream) noexcept {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const Member& member) { return member.stream == stream; });
  return found == members_.end() ? nullptr : &*found;
}

Status SideQueues::add(cudaStream_t stream) noexcept {
  const std::lock_guard lock(mutex_);
  if (Status status = join(stream); !status.ok()) return status;
  const Member& main = members_.front();
  return order(main.stream, main.given, stream);
}

void SideQueues::remove(cudaStream_t stream) noexcept {
  const std::lock_guard lock(mutex_);
  if (const Member* const member = find(stream)) {
    static_cast<void>(cudaEventDestroy(member->given));
    members_.erase(members_.begin() + (member - members_.data()));
  }
}

Status SideQueues::put_after_main() noexcept {
  const std::lock_guard lock(mutex_);
  const Member& main = members_.front();
  for (const Member& member : members_)
    if (member.stream != main.stream)
      if (Status status = order(main.stream, main.given, member.stream); !status.ok()) return status;
  return {};
}

Status SideQueues::put_before(cudaStream_t stream) noexcept {
  const std::lock_guard lock(mutex_);
  for (const Member& member : members_)
    if (member.stream != members_.front().stream)
      if (Status status = order(member.stream, member.given, stream); !status.ok()) return status;
  return {};
}

Status SideQueues::begin_capture(cudaStream_t stream) noexcept {
  const std::lock_guard lock(mutex_);
  const Member* const member = find(stream);
  if (member == nullptr) return {StatusCode::Rejected, "this queue's executor is gone"};
  cudaError_t error = cudaEventRecord(member->given, stream);
  // In thread-local mode, calls that cannot be captured (cudaMalloc, say) fail on this thread alone.
  if (error == cudaSuccess) error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  return check(error, "recording a queue");
}

Status SideQueues::end_capture(cudaStream_t stream, cudaGraph_t& graph) noexcept {
  const std::lock_guard lock(mutex_);
  Status status = check(cudaStreamEndCapture(stream, &graph), "ending a queue's recording");
  const Member& main = members_.front();
  if (stream == main.stream) return status;
  const Status ordered = order(main.stream, main.given, stream);
  return status.ok() ? ordered : status;
}

} // namespace tessera::cuda
