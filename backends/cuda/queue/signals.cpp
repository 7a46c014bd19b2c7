#include "signals.hpp"

#include <algorithm>
#include <new>

#include "cuda/device/status.hpp"
#include "cuda/queue/stream_queue.hpp"

namespace tessera::cuda {

Status Signals::get(Index count, bool may_wait, int*& first) noexcept try {
  constexpr Index usual = 4096; // Two blocks of eight warps on each of 256 multiprocessors.
  if (count > count_) {
    made_.reserve(made_.size() + 1);
    const Index wanted = std::max(count, usual);
    const std::size_t bytes = static_cast<std::size_t>(wanted) * sizeof(int);
    void* made = nullptr;
    if (Status status = memory_.allocate(stream_, bytes, made, may_wait, false); !status.ok()) return status;
    if (Status status = check(cudaMemsetAsync(made, 0, bytes, stream_), "clearing signals"); !status.ok()) {
      memory_.free(stream_, made);
      return status;
    }
    made_.push_back(static_cast<int*>(made));
    count_ = wanted;
  }
  first = made_.back();
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

void Signals::free() noexcept {
  for (int* const made : made_) memory_.free(stream_, made);
  made_.clear();
  count_ = 0;
}

Status signals_of(Queue& queue, Index count, int*& first) noexcept {
  auto& streams = static_cast<StreamQueue&>(queue);
  if (RecordedMemory* const recorded = streams.recorded_memory()) return recorded->signals().get(count, false, first);
  return streams.signals().get(count, true, first);
}

} // namespace tessera::cuda
