#pragma once

/// Memory for packed operands. It is kept from call to call, because fresh pages cost more than packing.

#include <cstddef>
#include <mutex>
#include <vector>

#include <tessera/backend/fork.hpp>

namespace tessera::cpu {

class ScratchPool;

/// A block of memory of the pool, aligned to at least 64 bytes. It goes back to the pool when it is destroyed. Its
/// contents are undefined.
class Scratch {
 public:
  Scratch() = default;
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&& other) noexcept;
  ~Scratch();
  void* data() const noexcept { return memory_; }

 private:
  friend class ScratchPool;
  Scratch(ScratchPool* pool, void* memory, std::size_t bytes) : pool_(pool), memory_(memory), bytes_(bytes) {}
  ScratchPool* pool_ = nullptr;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

class ScratchPool : private ForkObserver {
 public:
  ScratchPool() = default;
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;
  ~ScratchPool() override;

  /// Returns a block of at least `bytes` bytes. Throws HostMemoryShort, after the kept blocks were freed.
  Scratch acquire(std::size_t bytes);

 private:
  friend class Scratch;
  struct Block {
    void* memory;
    std::size_t bytes;
  };
  void release(Block block) noexcept;
  void free_kept() noexcept;
  void before_fork() noexcept override { mutex_.lock(); }
  void after_fork_in_parent() noexcept override { mutex_.unlock(); }
  void after_fork_in_child() noexcept override { mutex_.unlock(); }

  std::mutex mutex_;
  std::vector<Block> kept_;
};

/// Cuts a block into arrays, each aligned to 64 bytes. Without a block it only adds up how many bytes the arrays take.
class Carver {
 public:
  explicit Carver(void* memory = nullptr) : memory_(static_cast<char*>(memory)) {}
  template <class T>
  T* take(std::size_t elements) {
    char* at = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (elements * sizeof(T) + 63) / 64 * 64;
    return reinterpret_cast<T*>(at);
  }
  std::size_t used() const noexcept { return used_; }

 private:
  char* memory_;
  std::size_t used_ = 0;
};

} // namespace tessera::cpu
