#pragma once

/// A look at some places of an operand while the kernel's processes may still run.

#include <cstddef>
#include <optional>
#include <random>
#include <vector>

#include "remote_memory.hpp"

namespace tessera::judge {

/// To stop all of a kernel's processes takes longer than a look at a few bytes. C must be complete when the kernel has
/// replied, so that what it writes between this look and the stop is late.
class Glimpse {
 public:
  /// Chooses the places, before the kernel is called.
  Glimpse(const RemoteOperand& operand, std::mt19937_64& random);

  /// Looks. What cannot be read is left out: a read of all of the operand will say so.
  void take();
  /// Returns the first of the places at which `later`, all of the operand, is no longer what take() saw.
  std::optional<std::size_t> first_change(const std::vector<std::byte>& later) const;

 private:
  RemoteOperand operand_;
  std::size_t each_; ///< bytes at a place
  std::vector<std::size_t> places_;
  std::vector<std::byte> seen_; ///< the bytes at the places, one place after another
};

} // namespace tessera::judge
