#include "table.hpp"

#include <algorithm>
#include <cstdlib>

#include "cuda/device/status.hpp"

namespace tessera::cuda {
namespace {

constexpr std::size_t least_bytes = 64 << 10;
constexpr std::size_t most_kept = 8;

Status is_recording(cudaStream_t stream, bool& recording) noexcept {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const Status status = check(cudaStreamIsCapturing(stream, &capture), "asking whether a queue records");
  recording = capture != cudaStreamCaptureStatusNone;
  return status;
}

} // namespace

PinnedTables::~PinnedTables() {
  for (Block& block : kept_) release(block);
}

void PinnedTables::release(Block& block) noexcept {
  if (!block.pinned) {
    std::free(block.data);
  } else {
    if (block.copied != nullptr) {
      static_cast<void>(cudaEventSynchronize(block.copied));
      static_cast<void>(cudaEventDestroy(block.copied));
    }
    static_cast<void>(cudaFreeHost(block.data));
    static_cast<void>(cudaGetLastError());
  }
  block = {};
}

Status PinnedTables::take(cudaStream_t stream, std::size_t bytes, Block& block) noexcept {
  block = {};
  bool recording = false;
  if (Status status = is_recording(stream, recording); !status.ok()) return status;
  if (recording) { // a recording allows neither waiting for a copy nor pinning memory
    block.data = std::malloc(bytes);
    block.bytes = bytes;
    return block.data != nullptr ? Status{} : Status{StatusCode::OutOfMemory, {}};
  }
  {
    const std::lock_guard lock(mutex_); // the oldest is first: while its copy is in flight, the others are, too
    const auto fits = [&](const Block& one) { return one.bytes >= bytes; };
    auto found = std::find_if(kept_.begin(), kept_.end(), fits);
    const bool full = kept_.size() == most_kept;
    if (found != kept_.end() && !full && cudaEventQuery(found->copied) != cudaSuccess) found = kept_.end();
    static_cast<void>(cudaGetLastError()); // a copy in flight is no error
    if (found == kept_.end() && full) found = kept_.begin();
    if (found != kept_.end()) {
      block = *found;
      kept_.erase(found);
    }
  }
  if (block.data != nullptr) { // pinning more would take longer than waiting
    Status copied = check(cudaEventSynchronize(block.copied), "waiting for a table's copy");
    if (copied.ok() && block.bytes >= bytes) return copied;
    release(block);
    if (!copied.ok()) return copied;
  }
  block.pinned = true;
  block.bytes = std::max(least_bytes, bytes + bytes / 4);
  Status status = check(cudaMallocHost(&block.data, block.bytes), "pinning memory for a table");
  if (!status.ok()) {
    block = {};
    return status;
  }
  status = check(cudaEventCreateWithFlags(&block.copied, cudaEventDisableTiming), "creating an event");
  if (!status.ok()) release(block);
  return status;
}

Status PinnedTables::send(cudaStream_t stream, Block& block, std::size_t bytes, void* device) noexcept {
  Status status;
  if (!block.pinned) {
    status = send_as_arguments(stream, block.data, bytes, device);
    release(block);
    return status;
  }
  status = check(cudaMemcpyAsync(device, block.data, bytes, cudaMemcpyHostToDevice, stream), "copying a table");
  if (status.ok()) status = check(cudaEventRecord(block.copied, stream), "recording an event");
  if (status.ok()) try {
      const std::lock_guard lock(mutex_);
      if (kept_.size() < most_kept) {
        kept_.push_back(block);
        block = {};
        return {};
      }
    } catch (const std::bad_alloc&) { // the block is released instead of kept
    }
  release(block);
  return status;
}

} // namespace tessera::cuda
