#include "recorded_scratch.hpp"

#include <new>

#include "beside_capture.hpp"
#include "status.hpp"

namespace tessera::cuda {

Status RecordedScratch::create(int device, DeviceMemory& memory, std::unique_ptr<RecordedScratch>& scratch) noexcept {
  const BesideCapture here;
  if (Status status = check(cudaSetDevice(device), "choosing the device"); !status.ok()) return status;
  cudaStream_t stream = nullptr;
  if (Status status = check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream"); !status.ok())
    return status;
  scratch.reset(new (std::nothrow) RecordedScratch(device, memory, stream));
  if (scratch) return {};
  static_cast<void>(cudaStreamDestroy(stream));
  return {StatusCode::OutOfMemory, {}};
}

RecordedScratch::~RecordedScratch() {
  const BesideCapture here;
  static_cast<void>(cudaSetDevice(device_));
  for (const Block& block : blocks_) memory_.free(stream_, block.memory);
  signals_.free();
  static_cast<void>(cudaStreamDestroy(stream_));
}

Status RecordedScratch::take(std::size_t bytes, void*& memory) noexcept try {
  memory = nullptr;
  Block* best = nullptr;
  for (Block& block : blocks_)
    if (!block.taken && block.bytes >= bytes && (best == nullptr || block.bytes < best->bytes)) best = &block;
  if (best == nullptr) {
    blocks_.reserve(blocks_.size() + 1);
    void* made = nullptr;
    if (Status status = memory_.allocate(stream_, bytes, made, false); !status.ok()) return status;
    blocks_.push_back({made, bytes, false});
    best = &blocks_.back();
  }
  best->taken = true;
  memory = best->memory;
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

void RecordedScratch::give_back(void* memory) noexcept {
  for (Block& block : blocks_)
    if (block.memory == memory) block.taken = false;
}

Status RecordedScratch::settle() noexcept {
  if (blocks_.empty() && signals_.empty()) return {};
  const BesideCapture here;
  return check(cudaStreamSynchronize(stream_), "waiting for a recording's memory");
}

} // namespace tessera::cuda
