#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tessera/executor.hpp>
#include <tessera/status.hpp>

#include "core/base/host_memory.hpp"

namespace tessera::distributed {

/// Host memory that an executor copies from and to without waiting, which a grid keeps from one product to the next:
/// page-locking memory takes longer than many a product. It keeps what the last product took.
class KeptHostMemory {
 public:
  KeptHostMemory() = default;
  KeptHostMemory(const KeptHostMemory&) = delete;
  KeptHostMemory& operator=(const KeptHostMemory&) = delete;
  ~KeptHostMemory() { clear(); }

  /// Gives memory of just this size: memory that it kept, or new memory, once what it kept for other sizes is freed.
  Status take(Executor& executor, std::size_t bytes, void*& memory) noexcept {
    for (Block& block : blocks_)
      if (block.executor == &executor && block.bytes == bytes) {
        memory = block.memory;
        block = blocks_.back();
        blocks_.pop_back();
        return {};
      }
    clear();
    return executor.allocate_host(bytes, memory);
  }
  /// Keeps memory that take() gave, or frees it where there is no room to note it.
  void give_back(Executor& executor, std::size_t bytes, void* memory) noexcept try {
    blocks_.push_back({&executor, bytes, memory});
  } catch (const std::bad_alloc&) {
    executor.free_host(memory);
  }

 private:
  struct Block {
    Executor* executor;
    std::size_t bytes;
    void* memory;
  };
  void clear() noexcept {
    for (const Block& block : blocks_) block.executor->free_host(block.memory);
    blocks_.clear();
  }

  std::vector<Block> blocks_;
};

/// The host memory of one product, one matrix or one copy. It counts what it gives, so that a plan can be held against
/// it.
class HostBuffers {
 public:
  /// `kept` gives memory for an executor's copies, and takes it back; without one it is allocated and freed.
  explicit HostBuffers(KeptHostMemory* kept = nullptr) : kept_(kept) {}
  HostBuffers(const HostBuffers&) = delete;
  HostBuffers& operator=(const HostBuffers&) = delete;
  ~HostBuffers() {
    for (const Buffer& buffer : buffers_)
      if (buffer.executor == nullptr)
        free_host(buffer.memory);
      else if (kept_ != nullptr)
        kept_->give_back(*buffer.executor, buffer.bytes, buffer.memory);
      else
        buffer.executor->free_host(buffer.memory);
  }

  /// Returns a size rounded up as allocate() does.
  static std::size_t rounded(std::size_t bytes) noexcept { return rounded_host_size(bytes); }

  /// Allocates memory; none for 0 bytes. With an executor its copies need not wait for the memory, and none may be
  /// under way when the buffers are destroyed. Throws std::bad_alloc where the list of buffers cannot grow.
  Status allocate(std::size_t bytes, char*& memory, Executor* executor = nullptr) {
    memory = nullptr;
    if (bytes == 0) return {};
    buffers_.reserve(buffers_.size() + 1);
    void* allocated = nullptr;
    if (executor == nullptr) {
      allocated = allocate_host(bytes);
    } else {
      Status status = kept_ != nullptr ? kept_->take(*executor, rounded(bytes), allocated)
                                       : executor->allocate_host(rounded(bytes), allocated);
      if (!status.ok()) return status;
    }
    if (allocated == nullptr)
      return {StatusCode::OutOfMemory,
              "out of host memory: " + std::to_string(rounded(bytes)) + " bytes for a distributed product or copy"};
    buffers_.push_back({allocated, rounded(bytes), executor});
    memory = static_cast<char*>(allocated);
    bytes_ += rounded(bytes);
    return {};
  }
  /// Returns how many bytes were allocated.
  std::size_t bytes() const noexcept { return bytes_; }

  /// Leaves the memory to the process for good, because MPI may still write to it.
  void abandon() noexcept { buffers_.clear(); }

 private:
  struct Buffer {
    void* memory;
    std::size_t bytes;
    Executor* executor;
  };

  KeptHostMemory* kept_;
  std::vector<Buffer> buffers_;
  std::size_t bytes_ = 0;
};

} // namespace tessera::distributed
