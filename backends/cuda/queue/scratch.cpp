#include "scratch.hpp"

#include "cuda/memory/memory.hpp"
#include "cuda/queue/stream_queue.hpp"
#include "recorded_memory.hpp"

namespace tessera::cuda {

Status Scratch::allocate(Executor&, Queue& queue, std::size_t bytes) noexcept {
  release();
  auto& streams = static_cast<StreamQueue&>(queue);
  memory_ = &streams.memory();
  recorded_ = streams.recorded_memory();
  stream_ = stream_of(queue);
  if (recorded_ != nullptr) return recorded_->take(bytes, data_);
  return memory_->allocate_scratch(stream_, bytes, data_);
}

void Scratch::release() noexcept {
  if (data_ != nullptr && recorded_ != nullptr)
    static_cast<void>(recorded_->give_back(data_));
  else if (data_ != nullptr)
    memory_->free_scratch(stream_, data_);
  data_ = nullptr;
}

} // namespace tessera::cuda
