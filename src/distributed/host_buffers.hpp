#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tessera/status.hpp>

#include "matrix/host_memory.hpp"

namespace tessera::distributed {

/// The host memory of one product or one copy. It counts what it gives, so that a plan can be held against it.
class HostBuffers {
 public:
  HostBuffers() = default;
  HostBuffers(const HostBuffers&) = delete;
  HostBuffers& operator=(const HostBuffers&) = delete;
  ~HostBuffers() {
    for (void* memory : buffers_) free_host(memory);
  }

  /// Returns a size rounded up as allocate() does.
  static std::size_t rounded(std::size_t bytes) noexcept { return rounded_host_size(bytes); }

  /// Allocates memory; none for 0 bytes. Throws std::bad_alloc where the list of buffers cannot grow.
  Status allocate(std::size_t bytes, char*& memory) {
    memory = nullptr;
    if (bytes == 0) return {};
    buffers_.reserve(buffers_.size() + 1);
    memory = static_cast<char*>(allocate_host(bytes));
    if (memory == nullptr)
      return {StatusCode::OutOfMemory,
              "out of host memory: " + std::to_string(rounded(bytes)) + " bytes for a distributed product or copy"};
    buffers_.push_back(memory);
    bytes_ += rounded(bytes);
    return {};
  }
  /// Returns how many bytes were allocated.
  std::size_t bytes() const noexcept { return bytes_; }

  /// Leaves the memory to the process for good, because MPI may still write to it.
  void abandon() noexcept { buffers_.clear(); }

 private:
  std::vector<void*> buffers_;
  std::size_t bytes_ = 0;
};

} // namespace tessera::distributed
