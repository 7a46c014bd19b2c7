#include "scratch.hpp"

#include "memory.hpp"
#include "stream_queue.hpp"

namespace tessera::cuda {

Status Scratch::allocate(Executor&, Queue& queue, std::size_t bytes) noexcept {
  release();
  memory_ = &static_cast<StreamQueue&>(queue).memory();
  stream_ = stream_of(queue);
  return memory_->allocate(stream_, bytes, data_);
}

void Scratch::release() noexcept {
  if (data_ != nullptr) memory_->free(stream_, data_);
  data_ = nullptr;
}

} // namespace tessera::cuda
