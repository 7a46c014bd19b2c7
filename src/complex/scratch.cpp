#include "complex/scratch.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "host_memory.hpp"

namespace tessera::detail {
namespace {

constexpr std::size_t most_kept = std::size_t{65} << 20;
constexpr std::size_t least_kept = std::size_t{64} << 10;

struct KeptMemory {
  void* memory = nullptr;
  std::size_t bytes = 0;

  ~KeptMemory() { free_host(memory); }
};

/// A product takes it away while it runs: a thread that waits for its helpers may begin another product meanwhile.
thread_local KeptMemory kept;

} // namespace

Status ComplexScratch::allocate(std::size_t bytes) noexcept {
  if (!executor_.capabilities().host_memory) return executor_.allocate(bytes, memory_);
  if (kept.bytes >= bytes) {
    memory_ = std::exchange(kept.memory, nullptr);
    bytes_ = std::exchange(kept.bytes, 0);
    return {};
  }
  bytes_ = std::max(bytes, least_kept);
  memory_ = allocate_host(bytes_);
  if (memory_ != nullptr) return {};
  return {StatusCode::OutOfMemory, "out of host memory: could not allocate " + std::to_string(bytes) +
                                       " bytes for the expanded operands of a complex product"};
}

ComplexScratch::~ComplexScratch() {
  if (memory_ == nullptr) return;
  if (!executor_.capabilities().host_memory) {
    executor_.free(memory_);
  } else if (bytes_ <= kept.bytes || bytes_ > most_kept) {
    free_host(memory_);
  } else {
    free_host(std::exchange(kept.memory, memory_));
    kept.bytes = bytes_;
  }
}

} // namespace tessera::detail
