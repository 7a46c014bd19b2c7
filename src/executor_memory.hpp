#pragma once

#include <cstddef>

#include <tessera/executor.hpp>

namespace tessera::detail {

/// One allocation of an executor's, given back with the object.
class ExecutorMemory {
 public:
  explicit ExecutorMemory(Executor& executor) : executor_(executor) {}
  ~ExecutorMemory() { release(); }
  ExecutorMemory(const ExecutorMemory&) = delete;
  ExecutorMemory& operator=(const ExecutorMemory&) = delete;

  /// Gives back what it held first.
  Status allocate(std::size_t bytes) noexcept {
    release();
    return executor_.allocate(bytes, data_);
  }
  void* data() const noexcept { return data_; }

 private:
  void release() noexcept {
    if (data_ != nullptr) executor_.free(data_);
    data_ = nullptr;
  }

  Executor& executor_;
  void* data_ = nullptr;
};

} // namespace tessera::detail
