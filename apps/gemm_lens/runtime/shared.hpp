#pragma once

/// Shared memory of the block that runs: the arrays that its threads declare, and the dynamic part.

#include <cstdint>
#include <deque>
#include <string>

#include "shadow.hpp"

namespace tessera::lens {

/// The most that a block may have: without a request of the host's code, and with one (an H100's).
constexpr std::size_t most_static_shared = 48 << 10, most_shared = 227 << 10;

struct SharedArray {
  std::uintptr_t begin;
  std::size_t bytes;
  std::string name;
  ShadowMemory shadow;
  bool in_use; ///< in this launch

  std::uintptr_t end() const { return begin + bytes; }
};

class SharedMemory {
 public:
  void begin_launch(std::size_t dynamic_bytes);
  /// Puts NaN into all arrays, which is what a kernel must expect there.
  void begin_block();
  void declare(void* begin, std::size_t bytes, const char* name);
  /// Returns the array with the address, or with a guard band that has it; null if there is none.
  SharedArray* find(std::uintptr_t address);
  std::size_t static_bytes() const;
  std::size_t dynamic_bytes() const { return dynamic_bytes_; }
  std::deque<SharedArray>& all() { return arrays_; }

 private:
  std::deque<SharedArray> arrays_;
  SharedArray* last_ = nullptr;
  std::size_t dynamic_bytes_ = 0;
};

inline SharedMemory& shared_memory() {
  static auto& memory = *new SharedMemory;
  return memory;
}

} // namespace tessera::lens
