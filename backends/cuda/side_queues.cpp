#include "side_queues.hpp"

#include <new>

#include "status.hpp"

namespace tessera::cuda {
namespace {

/// `later`'s work from now on waits for `earlier`'s work so far.
Status order(cudaStream_t earlier, cudaStream_t later, cudaEvent_t event) noexcept {
  cudaError_t error = cudaEventRecord(event, earlier);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(later, event, 0);
  return check(error, "ordering two queues");
}

} // namespace

Status SideQueues::create(int device, std::shared_ptr<SideQueues>& queues) noexcept try {
  if (Status status = check(cudaSetDevice(device), "choosing the device"); !status.ok()) return status;
  cudaEvent_t event = nullptr;
  if (Status status = check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event"); !status.ok())
    return status;
  queues.reset(new SideQueues(device, event));
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

SideQueues::~SideQueues() {
  static_cast<void>(cudaSetDevice(device_));
  static_cast<void>(cudaEventDestroy(event_));
}

Status SideQueues::add(cudaStream_t stream, cudaStream_t main) noexcept try {
  const std::lock_guard lock(mutex_);
  streams_.push_back(stream);
  Status status = order(main, stream, event_);
  if (!status.ok()) streams_.pop_back();
  return status;
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

void SideQueues::remove(cudaStream_t stream) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(streams_, stream);
}

Status SideQueues::put_after(cudaStream_t main) noexcept {
  const std::lock_guard lock(mutex_);
  for (const cudaStream_t stream : streams_)
    if (Status status = order(main, stream, event_); !status.ok()) return status;
  return {};
}

Status SideQueues::put_before(cudaStream_t main) noexcept {
  const std::lock_guard lock(mutex_);
  for (const cudaStream_t stream : streams_)
    if (Status status = order(stream, main, event_); !status.ok()) return status;
  return {};
}

} // namespace tessera::cuda
