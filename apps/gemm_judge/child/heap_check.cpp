#include "heap_check.hpp"

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace tessera::judge {
namespace {

constexpr unsigned char canary_byte = 0xa7;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
constexpr bool heap_is_glibcs = true;
#else
constexpr bool heap_is_glibcs = false;
#endif

/// Returns where Linux put this process's heap; null if it has none.
const char* start_of_heap() {
  FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return nullptr;
  const char* start = nullptr;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr)
    if (std::strstr(line, "[heap]") != nullptr) {
      start = reinterpret_cast<const char*>(std::strtoull(line, nullptr, 16));
      break;
    }
  std::fclose(maps);
  return start;
}

/// The two words in front of each block of glibc's malloc: the size of the chunk before it, which counts if that chunk
/// is free, and its own size with three flags.
struct ChunkHead {
  std::size_t size_before = 0;
  std::size_t size_and_flags = 0;
};
constexpr std::size_t before_is_used = 1, mapped_or_other_arena = 6, all_flags = 7;
constexpr std::size_t alignment = 2 * sizeof(std::size_t);

/// Returns the offset of the first chunk whose head makes no sense, or −1. The chunks fill the heap from its start to
/// its end.
std::ptrdiff_t first_bad_chunk(const char* heap) {
  const char* end = static_cast<const char*>(sbrk(0));
  std::size_t before = 0;
  for (const char* at = heap; at < end;) {
    if (static_cast<std::size_t>(end - at) < sizeof(ChunkHead)) return at - heap;
    ChunkHead head;
    std::memcpy(&head, at, sizeof head);
    const std::size_t size = head.size_and_flags & ~all_flags;
    // Such a small chunk marks the end of a part of the heap, after which another caller of sbrk() has memory.
    if (size == alignment && at != heap) return -1;
    const bool wrong_size = size < 2 * alignment || size % alignment != 0 || size > static_cast<std::size_t>(end - at);
    const bool wrong_before = (head.size_and_flags & before_is_used) == 0 && head.size_before != before;
    if (wrong_size || wrong_before || (head.size_and_flags & mapped_or_other_arena) != 0) return at - heap;
    before = size;
    at += size;
  }
  return -1;
}

} // namespace

HeapCheck::HeapCheck() {
  canaries_.reserve(16);
  for (std::size_t bytes = 24; bytes <= 8192; bytes *= 2) {
    auto* block = static_cast<unsigned char*>(std::malloc(bytes)); // NOLINT(cppcoreguidelines-no-malloc)
    if (block == nullptr) continue;
    std::memset(block, canary_byte, bytes);
    canaries_.push_back({block, bytes});
  }
  if (!heap_is_glibcs) return;
  heap_ = start_of_heap();
  if (heap_ != nullptr && first_bad_chunk(heap_) >= 0) heap_ = nullptr; // it is not glibc's
}

HeapCheck::~HeapCheck() {
  for (const Canary& canary : canaries_) std::free(canary.block); // NOLINT(cppcoreguidelines-no-malloc)
}

std::string HeapCheck::damage() const {
  char said[160];
  for (const Canary& canary : canaries_)
    for (std::size_t byte = 0; byte < canary.bytes; ++byte)
      if (canary.block[byte] != canary_byte) {
        std::snprintf(said, sizeof said, "byte %zu of a block of %zu bytes, which is not the kernel's, was changed",
                      byte, canary.bytes);
        return said;
      }
  if (heap_ == nullptr) return {};
  std::ptrdiff_t bad = first_bad_chunk(heap_);
  // A thread of the kernel may be inside malloc at this moment.
  for (int again = 0; again < 5 && bad >= 0; ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    bad = first_bad_chunk(heap_);
  }
  if (bad < 0) return {};
  std::snprintf(said, sizeof said, "the head of the block at byte %td of the heap is no longer what malloc wrote", bad);
  return said;
}

} // namespace tessera::judge
