#include "scratch.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include <tessera/backend/out_of_memory.hpp>

namespace tessera::cpu {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t most_blocks_kept = 4; ///< so many concurrent callers each find a block

} // namespace

Scratch::Scratch(Scratch&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), memory_(other.memory_), bytes_(other.bytes_) {}

Scratch& Scratch::operator=(Scratch&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Scratch::~Scratch() {
  if (pool_ != nullptr) pool_->release({memory_, bytes_});
}

ScratchPool::~ScratchPool() { free_kept(); }

Scratch ScratchPool::acquire(std::size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    const auto fits = std::find_if(kept_.begin(), kept_.end(), [&](const Block& b) { return b.bytes >= bytes; });
    if (fits != kept_.end()) {
      const Block block = *fits;
      kept_.erase(fits);
      return Scratch(this, block.memory, block.bytes);
    }
    // The reservation lets release() take a block back without allocating. Blocks that are kept are too small now.
    kept_.reserve(most_blocks_kept);
    free_kept();
  }
  const std::size_t alignment = bytes >= huge_page ? huge_page : page;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw HostMemoryShort("the packed operands of a product", rounded);
  // Packed strips are read from end to end, so fewer, larger pages help. The system need not follow this advice.
  if (alignment == huge_page) (void)madvise(memory, rounded, MADV_HUGEPAGE);
  return Scratch(this, memory, rounded);
}

void ScratchPool::release(Block block) noexcept {
  std::lock_guard lock(mutex_);
  if (kept_.size() < kept_.capacity() && kept_.size() < most_blocks_kept)
    kept_.push_back(block);
  else
    std::free(block.memory);
}

void ScratchPool::free_kept() noexcept {
  for (const Block& block : kept_) std::free(block.memory);
  kept_.clear();
}

} // namespace tessera::cpu
