#pragma once

/// Host memory that copies need not wait for: a GPU's own buffer in host memory, mapped as long as it lives, or
/// ordinary memory where host and device share one.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "opencl/device/context.hpp"

namespace tessera::opencl {

class Pinned {
 public:
  explicit Pinned(Context& context) : context_(context) {}
  /// Frees what is left. The queue of free() is gone by then.
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  /// Allocates `bytes` bytes, aligned to 64 bytes at least. On OutOfMemory `memory` is null.
  Status allocate(cl_command_queue queue, std::size_t bytes, void*& memory) noexcept;
  void free(cl_command_queue queue, void* memory) noexcept;
  /// Is the byte in memory that allocate() gave?
  bool holds(const void* address) const noexcept;

 private:
  struct Block {
    std::size_t bytes = 0;
    cl_mem buffer = nullptr; ///< null: ordinary memory
    void* mapped = nullptr;
  };

  Context& context_;
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Block> blocks_; ///< by the address that callers have
};

} // namespace tessera::opencl
