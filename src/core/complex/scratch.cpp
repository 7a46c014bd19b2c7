#include "scratch.hpp"

#include <pthread.h>
#include <algorithm>
#include <string>
#include <utility>

#include <tessera/backend/out_of_memory.hpp>

#include "core/base/host_memory.hpp"

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

/// Frees the block at a thread's end. This is a key and not a destructor of a thread_local object, because the C
/// library ends the process where it has no memory to register such a destructor.
class EndOfThread {
 public:
  EndOfThread() noexcept : made_(pthread_key_create(&key_, free_block) == 0) {}
  ~EndOfThread() {
    if (made_) pthread_key_delete(key_);
  }
  EndOfThread(const EndOfThread&) = delete;
  EndOfThread& operator=(const EndOfThread&) = delete;

  /// Returns false if the calling thread's block would not be freed at its end.
  bool comes() const noexcept { return made_ && pthread_setspecific(key_, &kept) == 0; }

 private:
  static void free_block(void*) noexcept {
    free_host(kept.memory);
    kept = {nullptr, 0, true};
  }

  pthread_key_t key_{};
  bool made_;
};

void keep(void* memory, std::size_t bytes) noexcept {
  static const EndOfThread end;
  free_host(kept.memory);
  kept = {nullptr, 0, false};
  if (end.comes())
    kept = {memory, bytes, false};
  else
    free_host(memory);
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
  return out_of_memory("the expanded operands of a complex product", host_bytes_);
}

ComplexScratch::~ComplexScratch() {
  if (host_memory_ == nullptr) return;
  if (kept.thread_ends || host_bytes_ <= kept.bytes || host_bytes_ > most_kept)
    free_host(host_memory_);
  else
    keep(host_memory_, host_bytes_);
}

} // namespace tessera::detail
