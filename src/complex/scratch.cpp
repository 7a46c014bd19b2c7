#include "scratch.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "matrix/host_memory.hpp"

namespace tessera::detail {
namespace {

constexpr std::size_t most_kept = std::size_t{65} << 20;
constexpr std::size_t least_kept = std::size_t{64} << 10;

/// The block that a thread keeps. A product takes it while it runs, because a thread that waits for its helpers may
/// begin another product meanwhile. The struct has no destructor, so that products in the destructors of other
/// thread-local objects find an empty block once the thread's block is freed.
struct KeptMemory {
  void* memory;
  std::size_t bytes;
  bool thread_ends;
};
constinit thread_local KeptMemory kept{nullptr, 0, false};

/// Frees the block at the thread's end.
struct EndOfThread {
  ~EndOfThread() {
    free_host(kept.memory);
    kept = {nullptr, 0, true};
  }
};

void keep(void* memory, std::size_t bytes) noexcept {
  thread_local EndOfThread end;
  static_cast<void>(end);
  free_host(kept.memory);
  kept = {memory, bytes, false};
}

} // namespace

Status ComplexScratch::allocate(Queue& queue, std::size_t bytes) noexcept {
  if (!on_host_) return device_memory_.allocate_for(queue, bytes);
  if (kept.bytes >= bytes) {
    host_memory_ = std::exchange(kept.memory, nullptr);
    host_bytes_ = std::exchange(kept.bytes, 0);
    return {};
  }
  host_bytes_ = std::max(bytes, least_kept);
  host_memory_ = allocate_host(host_bytes_);
  if (host_memory_ != nullptr) return {};
  return {StatusCode::OutOfMemory, "out of host memory: could not allocate " + std::to_string(bytes) +
                                       " bytes for the expanded operands of a complex product"};
}

ComplexScratch::~ComplexScratch() {
  if (host_memory_ == nullptr) return;
  if (kept.thread_ends || host_bytes_ <= kept.bytes || host_bytes_ > most_kept)
    free_host(host_memory_);
  else
    keep(host_memory_, host_bytes_);
}

} // namespace tessera::detail
