#pragma once

/// Memory that the parent and the child share. Its size is sealed, so that the child cannot take pages from the parent.

#include <cstddef>

#include "channel.hpp"

namespace tessera::judge {

/// Sets the problem's regions and returns the bytes of the whole shared memory, with the header. Each region starts at
/// a page.
std::size_t lay_out(Problem& problem, std::size_t a_bytes, std::size_t b_bytes, std::size_t c_bytes);

class SharedMemory {
 public:
  /// Reserves all pages at once. Throws OutOfMemory.
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const noexcept { return data_; }
  SharedHeader& header() const noexcept { return *reinterpret_cast<SharedHeader*>(data_); }
  int descriptor() const noexcept { return descriptor_; }

 private:
  std::size_t bytes_;
  int descriptor_ = -1;
  std::byte* data_ = nullptr;
};

} // namespace tessera::judge
