#pragma once

/// Memory for one complex product: an executor's own, or on the host a block that the calling thread keeps for its next
/// product, for fresh pages cost more than a small product.

#include <cstddef>

#include <tessera/executor.hpp>

#include "matrix/executor_memory.hpp"

namespace tessera::detail {

class ComplexScratch {
 public:
  explicit ComplexScratch(Executor& executor)
      : on_host_(executor.capabilities().host_memory), device_memory_(executor) {}
  ~ComplexScratch();
  ComplexScratch(const ComplexScratch&) = delete;
  ComplexScratch& operator=(const ComplexScratch&) = delete;

  /// For work in `queue`. Once. Aligned to 64 bytes, contents undefined.
  Status allocate(Queue& queue, std::size_t bytes) noexcept;
  char* data() const noexcept { return static_cast<char*>(on_host_ ? host_memory_ : device_memory_.data()); }

 private:
  bool on_host_;
  ExecutorMemory device_memory_;
  void* host_memory_ = nullptr;
  std::size_t host_bytes_ = 0;
};

} // namespace tessera::detail
