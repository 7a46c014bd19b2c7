#include "memory.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstring>

namespace tessera::lens {
namespace {

constexpr std::size_t gap = 1 << 20; ///< an access that misses by less finds memory, and does no harm
constexpr std::size_t alignment = 256;
constexpr std::size_t sector = 32;
constexpr std::size_t most_filled = 64 << 20; ///< bytes of an allocation that are made NaN

} // namespace

bool DeviceMemory::reserve() {
  void* const all = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return false;
  begin_ = reinterpret_cast<std::uintptr_t>(all);
  next_ = begin_ + gap;
  return true;
}

void* DeviceMemory::allocate(std::size_t bytes, std::string name) {
  const std::size_t room = begin_ + size - next_;
  if (bytes > room || room - bytes < 2 * gap) return nullptr;
  auto made = std::make_unique<Allocation>();
  made->begin = next_;
  made->bytes = bytes;
  made->name = name.empty() ? "device memory " + std::to_string(++unnamed_) : std::move(name);
  made->touched.resize(bytes / sector + 1);
  made->shadow.reserve(bytes);
  next_ = (next_ + bytes + gap + alignment - 1) / alignment * alignment;
  auto* const memory = reinterpret_cast<void*>(made->begin);
  std::memset(memory, 0xff, std::min(bytes, most_filled));
  all_.push_back(std::move(made));
  return memory;
}

bool DeviceMemory::free(void* memory) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  Allocation* const found = find(at);
  if (found == nullptr || found->begin != at || found->freed) return false;
  return found->freed = true;
}

Allocation* DeviceMemory::find(std::uintptr_t address) {
  if (last_ != nullptr && address - last_->begin < last_->bytes) return last_;
  const auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                      [](std::uintptr_t value, const auto& one) { return value < one->begin; });
  if (after == all_.begin()) return all_.empty() ? nullptr : after->get();
  Allocation* const before = std::prev(after)->get();
  if (address < before->end()) return last_ = before;
  const bool nearer = after != all_.end() && (*after)->begin - address < address - before->end();
  return nearer ? after->get() : before;
}

} // namespace tessera::lens
