#pragma once

#include <cstddef>

#include <tessera/executor.hpp>
#include <tessera/performance/recording.hpp>

namespace tessera::detail {

/// One allocation of an executor. The destructor frees it.
class ExecutorMemory {
 public:
  explicit ExecutorMemory(Executor& executor) : executor_(executor) {}
  ~ExecutorMemory() { release(); }
  ExecutorMemory(const ExecutorMemory&) = delete;
  ExecutorMemory& operator=(const ExecutorMemory&) = delete;

  /// Frees what it held, then allocates.
  Status allocate(std::size_t bytes) noexcept {
    release();
    return executor_.allocate(bytes, data_);
  }
  /// Allocates memory for work in `queue`. Memory is allocated and freed in the order of the default queue, so another
  /// queue that is being recorded can do neither: then the Status is Rejected.
  Status allocate_for(Queue& queue, std::size_t bytes) noexcept {
    if (is_being_recorded(queue) && &queue != &executor_.default_queue())
      return {
          StatusCode::Rejected,
          "this product needs memory besides its operands, which only the default queue can record; record it there"};
    return allocate(bytes);
  }
  void* data() const noexcept { return data_; }
  /// Frees what it held.
  void release() noexcept {
    if (data_ != nullptr) executor_.free(data_);
    data_ = nullptr;
  }

 private:
  Executor& executor_;
  void* data_ = nullptr;
};

} // namespace tessera::detail
