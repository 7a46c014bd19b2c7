#pragma once

/// Scratch memory for one complex product. A device's comes from its executor. On the host the calling thread keeps a
/// block for its next product, because fresh pages cost more than a small product.

#include <cstddef>

#include <tessera/executor.hpp>

#include "core/executor/executor_memory.hpp"

namespace tessera::detail {

class ComplexScratch {
 public:
  explicit ComplexScratch(Executor& executor)
      : on_host_(executor.capabilities().host_memory), device_memory_(executor) {}
  ~ComplexScratch();
  ComplexScratch(const ComplexScratch&) = delete;
  ComplexScratch& operator=(const ComplexScratch&) = delete;

  /// Allocates memory for work in `queue`; may be called once. It is aligned to 64 bytes; its contents are undefined.
  Status allocate(Queue& queue, std::size_t bytes) noexcept;
  char* data() const noexcept { return static_cast<char*>(on_host_ ? host_memory_ : device_memory_.data()); }

 private:
  bool on_host_;
  ExecutorMemory device_memory_;
  void* host_memory_ = nullptr;
  std::size_t host_bytes_ = 0;
};

} // namespace tessera::detail
