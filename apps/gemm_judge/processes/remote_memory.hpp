#pragma once

/// An operand in the memory of the child, between two guard bands. The parent writes and reads it; the child takes no
/// part in that.

#include <sys/types.h>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gemm_judge/child/guard_bands.hpp"

namespace tessera::judge {

/// Copies between this process and another. Returns whether all bytes were copied; errno says why not.
bool write_memory(pid_t process, std::uint64_t to, const std::byte* from, std::size_t bytes);
bool read_memory(pid_t process, std::uint64_t from, std::byte* to, std::size_t bytes);

class RemoteOperand {
 public:
  RemoteOperand() = default;
  /// `address`: of the first element in the child; the guard bands lie in front of it and after the last byte.
  RemoteOperand(pid_t process, std::uint64_t address, std::size_t bytes)
      : process_(process), address_(address), bytes_(bytes) {}

  std::uint64_t address() const noexcept { return address_; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// Writes the operand and both guard bands. Returns whether the child has this memory.
  bool write(const std::byte* image) const;
  /// Reads the operand. Returns whether the child has this memory.
  bool read(std::byte* image) const;

  /// Reads `each` bytes from every one of these offsets on, one after another into `to`. Returns whether the child has
  /// this memory.
  bool read_pieces(const std::vector<std::size_t>& offsets, std::size_t each, std::byte* to) const;

  /// Compares the guard bands and, if `image` is not null, the operand with `image`. Returns the first difference that
  /// it finds.
  std::optional<Difference> first_difference(const std::byte* image) const;

 private:
  pid_t process_ = -1;
  std::uint64_t address_ = 0;
  std::size_t bytes_ = 0;
};

} // namespace tessera::judge
