#pragma once

/// What a thread does that the lens looks at, one event each.

#include <cstdint>

namespace tessera::lens {

enum class EventKind : std::uint8_t { Load, Store, Atomic, Copy, Flow };

/// An access to memory, of which Copy is what a copy past the registers writes to shared memory; or (Flow) a comparison
/// or the first instruction of a piece of code without branches.
struct Event {
  std::uint64_t address; ///< of an access
  std::uint32_t pc;      ///< after the call that reported it, counted from the program's start
  std::uint16_t depth;   ///< bytes of stack in use, divided by 16
  std::uint8_t size;     ///< bytes of an access
  EventKind kind;

  /// Orders the events of a warp's threads: events of the deepest call first, then the first ones in the code.
  /// Threads whose next events are equal in this go together. Source: S. Collange, "Stack-less SIMT reconvergence at
  /// low cost", 2011.
  std::uint64_t order() const {
    return static_cast<std::uint64_t>(0xffff - depth) << 40 | static_cast<std::uint64_t>(pc) << 8 |
           static_cast<std::uint64_t>(kind);
  }
};

} // namespace tessera::lens
