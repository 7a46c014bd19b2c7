#pragma once

/// The control words of floating-point arithmetic: rounding, flushing of subnormal numbers, exceptions that trap. A
/// function that leaves them changed changes every later sum of its thread.

#include <cstdint>
#include <string>

namespace tessera::judge {

struct FloatingState {
  std::uint64_t vector = 0; ///< MXCSR without its flags; FPCR on AArch64
  std::uint64_t x87 = 0;    ///< the x87 control word; 0 on AArch64

  /// Reads the state of this thread.
  static FloatingState now();
  /// Puts the state of this thread back to this one, with no exception pending.
  void restore() const;
  bool operator==(const FloatingState&) const = default;
};

/// Says in a few words what changed, as "flushes subnormal numbers to zero".
std::string describe_change(const FloatingState& before, const FloatingState& after);

} // namespace tessera::judge
