#include "recorded_memory.hpp"

#include <algorithm>
#include <new>

#include "cuda/device/relaxed_capture.hpp"
#include "cuda/device/status.hpp"

namespace tessera::cuda {

Status RecordedMemory::create(Executor& executor, DeviceMemory& memory,
                              std::unique_ptr<RecordedMemory>& recorded) noexcept {
  cudaStream_t stream = nullptr;
  if (Status status = memory.stream(stream); !status.ok()) return status;
  recorded.reset(new (std::nothrow) RecordedMemory(executor, memory, stream));
  return recorded ? Status{} : Status{StatusCode::OutOfMemory, {}};
}

RecordedMemory::~RecordedMemory() {
  for (const Block& block : blocks_)
    if (!block.taken) memory_.free(stream_, block.memory);
  signals_.free();
  for (void* const memory : kept_) executor_.free(memory);
}

Status RecordedMemory::take(std::size_t bytes, void*& memory) noexcept try {
  const std::lock_guard lock(mutex_);
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

bool RecordedMemory::give_back(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto block =
      std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& one) { return one.memory == memory; });
  if (block == blocks_.end()) return false;
  block->taken = false;
  return true;
}

Status RecordedMemory::allocate(std::size_t bytes, void*& memory) noexcept {
  if (Status status = take(bytes, memory); !status.ok()) return status;
  const RelaxedCaptureMode relaxed;
  Status status = check(cudaStreamSynchronize(stream_), "waiting for memory beside a recording");
  if (!status.ok()) {
    static_cast<void>(give_back(memory));
    memory = nullptr;
  }
  return status;
}

void RecordedMemory::free(void* memory) noexcept try {
  if (give_back(memory)) return;
  const std::lock_guard lock(mutex_);
  kept_.push_back(memory);
} catch (const std::bad_alloc&) { // The memory then goes back when the executor is destroyed.
}

Status RecordedMemory::settle() noexcept {
  const std::lock_guard lock(mutex_);
  if (blocks_.empty() && signals_.empty()) return {};
  const RelaxedCaptureMode relaxed;
  return check(cudaStreamSynchronize(stream_), "waiting for a recording's memory");
}

} // namespace tessera::cuda
