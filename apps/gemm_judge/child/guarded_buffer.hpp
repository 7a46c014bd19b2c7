#pragma once

/// An operand in the executor's memory between two guard bands.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tessera/executor.hpp>

#include "gemm_judge/channel.hpp"

namespace tessera::judge {

class GuardedBuffer {
 public:
  /// Allocates an operand of `bytes` bytes and its guard bands. `shift`: how far the operand is moved within its
  /// memory, in bytes, a multiple of 256. Throws OutOfMemory.
  GuardedBuffer(Executor& executor, std::size_t bytes, std::size_t shift);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  void* data() const noexcept { return base_ + shift_ + guard_bytes; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// Writes the operand from `image` and fills both guard bands. Throws DeviceError.
  void fill(const std::byte* image);
  /// Copies the operand to `image`. Throws DeviceError.
  void read(std::byte* image) const;
  /// Compares the guard bands and, if `image` is not null, the operand with `image`. Returns the first difference that
  /// it finds, in bytes from the operand's start, negative in front of it. Throws DeviceError.
  std::optional<std::int64_t> first_difference(const std::byte* image) const;

 private:
  void copy_out(std::int64_t from, std::byte* to, std::size_t bytes) const;

  Executor& executor_;
  std::size_t bytes_;
  std::size_t shift_;
  std::byte* base_ = nullptr;
};

} // namespace tessera::judge
