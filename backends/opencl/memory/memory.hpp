#pragma once

/// One device's memory, as addresses that callers may add offsets to.
///
/// Where the device has shared virtual memory, a block is a piece of it, with a buffer that has the same storage for
/// copies. Elsewhere a block is a buffer, and its addresses are a range that is reserved and never touched: they only
/// say which buffer is meant, and where in it. TESSERA_OPENCL_SVM=none takes the second way on every device.
///
/// A block that is freed stays until the work is done that the device's queues had been given before. Blocks that a
/// queue's work uses for a while are kept for its next work, because drivers take long to make a block: up to an eighth
/// of the device's memory, until memory is short or the queue goes.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "opencl/device/context.hpp"

namespace tessera::opencl {

/// An address as OpenCL knows it.
struct Place {
  cl_mem buffer = nullptr;
  void* shared = nullptr; ///< the block's first byte in shared virtual memory; null: the block is a buffer
  std::size_t offset = 0; ///< bytes from the block's first byte
};

class DeviceMemory {
 public:
  explicit DeviceMemory(Context& context) noexcept;
  /// Frees all blocks. The queues are gone by then.
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Allocates `bytes` bytes, aligned to 64 bytes at least. On OutOfMemory `memory` is null and nothing has changed.
  Status allocate(std::size_t bytes, void*& memory) noexcept;
  void free(void* memory) noexcept;

  /// Gives a block of at least `bytes` bytes to work that is about to be enqueued in the queue, until give_back(). The
  /// work that the queue had been given before may still use it.
  Status lend(cl_command_queue queue, std::size_t bytes, void*& memory) noexcept;
  void give_back(void* memory) noexcept;

  /// Finds the block that an address is in. InvalidArgument if it is in none.
  Status find(const void* address, Place& place) const noexcept;
  /// Does the same, and returns whether the address is in a block.
  bool holds(const void* address, Place& place) const noexcept;

  /// Adds a queue whose work may use this memory, until it is removed. A queue that is removed has done its work.
  Status add(cl_command_queue queue) noexcept;
  void remove(cl_command_queue queue) noexcept;

  Context& context() const noexcept { return context_; }

 private:
  struct Block {
    std::size_t bytes = 0;
    std::size_t reserved = 0; ///< bytes of address space; of shared virtual memory `bytes`
    cl_mem buffer = nullptr;
    void* shared = nullptr;
  };
  /// A block that is lent to work of a queue, or is kept for it.
  struct Lent {
    cl_command_queue queue = nullptr;
    void* memory = nullptr;
    std::size_t bytes = 0;
    bool in_use = false;
  };
  /// Shared virtual memory that was freed, and the marks in the queues after which nothing uses it.
  struct Freed {
    Block block;
    std::vector<cl_event> after;
  };

  Status reserve(std::size_t bytes) noexcept;
  Status make(std::size_t bytes, Block& block, std::uintptr_t& address) noexcept;
  Status make_shared(std::size_t bytes, Block& block, std::uintptr_t& address) noexcept;
  Status make_buffer(std::size_t bytes, Block& block, std::uintptr_t& address) noexcept;
  Status too_much(std::size_t bytes, const char* why) const;
  void mark(std::vector<cl_event>& after) noexcept;
  bool sweep(bool waits) noexcept;
  bool drop_kept(cl_command_queue queue) noexcept;
  bool make_room() noexcept;
  void release(const Block& block) noexcept;

  Context& context_;
  bool shares_;
  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, Block> blocks_; ///< by their first address
  std::size_t in_use_ = 0;
  std::mutex queues_mutex_;
  std::vector<cl_command_queue> queues_;
  std::mutex freed_mutex_;
  std::vector<Freed> freed_;
  std::mutex lent_mutex_;
  std::vector<Lent> lent_;
};

} // namespace tessera::opencl
