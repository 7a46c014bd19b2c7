#pragma once

/// Memory for packed operands, with the interface of backends/cpu/memory/scratch.hpp; each call allocates it anew.

#include <cstddef>
#include <new>

namespace tessera::cpu {

class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(std::size_t bytes) : memory_(::operator new(bytes + 64, alignment)) {}
  Scratch(Scratch&& other) noexcept : memory_(other.memory_) { other.memory_ = nullptr; }
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() { ::operator delete(memory_, alignment); }
  void* data() const noexcept { return memory_; }

 private:
  static constexpr std::align_val_t alignment{64};
  void* memory_ = nullptr;
};

class ScratchPool {
 public:
  Scratch acquire(std::size_t bytes) { return Scratch(bytes); }
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
