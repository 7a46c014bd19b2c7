#pragma once

/// Memory for one run of a kernel. The destructor gives it back, and the work that was enqueued may still use it.

#include <cstddef>

#include "command_queue.hpp"

namespace tessera::opencl {

class Scratch {
 public:
  Scratch() = default;
  ~Scratch() {
    if (memory_ != nullptr) memory_->give_back(data_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Allocates `bytes` bytes with undefined contents. Call it once.
  Status allocate(Queue& queue, std::size_t bytes) noexcept {
    memory_ = &command_queue(queue).memory();
    return memory_->lend(command_queue(queue).get(), bytes, data_);
  }
  void* data() const noexcept { return data_; }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  DeviceMemory* memory_ = nullptr;
  void* data_ = nullptr;
};

} // namespace tessera::opencl
