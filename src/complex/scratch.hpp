#pragma once

/// Memory for one complex product: an executor's own, or on the host a block that the calling thread keeps for its next
/// product, for fresh pages cost more than a small product.

#include <cstddef>

#include <tessera/executor.hpp>

namespace tessera::detail {

class ComplexScratch {
 public:
  explicit ComplexScratch(Executor& executor) : executor_(executor) {}
  ~ComplexScratch();
  ComplexScratch(const ComplexScratch&) = delete;
  ComplexScratch& operator=(const ComplexScratch&) = delete;

  /// Once. Aligned to 64 bytes, contents undefined.
  Status allocate(std::size_t bytes) noexcept;
  char* data() const noexcept { return static_cast<char*>(memory_); }

 private:
  Executor& executor_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace tessera::detail
