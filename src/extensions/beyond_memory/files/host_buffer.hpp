#pragma once

#include <cstddef>
#include <utility>

#include <tessera/executor.hpp>

#include "core/base/host_memory.hpp"

namespace tessera::files {

/// Host memory that an executor's copies need not wait for. The destructor frees it.
class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(HostBuffer&& other) noexcept { swap(other); }
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~HostBuffer() {
    if (data_ != nullptr) executor_->free_host(data_);
  }

  /// Allocates memory, none for 0 bytes, and adds its size to `allocated`.
  Status allocate(Executor& executor, std::size_t bytes, std::size_t& allocated) noexcept {
    if (bytes == 0) return {};
    void* memory = nullptr;
    if (Status status = executor.allocate_host(bytes, memory); !status.ok()) return status;
    HostBuffer fresh;
    fresh.executor_ = &executor;
    fresh.data_ = memory;
    swap(fresh);
    allocated += allocated_host_bytes(bytes);
    return {};
  }
  char* data() const noexcept { return static_cast<char*>(data_); }

 private:
  void swap(HostBuffer& other) noexcept {
    std::swap(executor_, other.executor_);
    std::swap(data_, other.data_);
  }

  Executor* executor_ = nullptr;
  void* data_ = nullptr;
};

} // namespace tessera::files
