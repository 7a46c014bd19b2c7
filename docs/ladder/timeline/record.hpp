#pragma once

/// What the marks of an instrumented kernel leave behind: of one block, when each warp began each phase. The kernel
/// writes it on the device (marks.cuh), and record.cpp reads it on the host.

#include <cstdint>

namespace tessera::timeline {

/// What a warp does between two marks.
enum class Phase : unsigned { Load, Wait, Multiply, Store };

inline constexpr unsigned most_warps = 16;  ///< of a block
inline constexpr unsigned most_events = 48; ///< of a warp; later ones are counted and not kept

/// An event is a number that a lane stores at once: the cycle in which a phase begins, times `phases`, plus the phase.
inline constexpr unsigned phases = 4;
inline std::uint64_t cycles_of(std::uint64_t event) { return event / phases; }
inline Phase phase_of(std::uint64_t event) { return static_cast<Phase>(event % phases); }

struct WarpRecord {
  std::uint64_t begin_cycles, end_cycles; ///< of the warp, by the multiprocessor's clock; an end of 0: it did not run
  std::uint64_t begin_ns, end_ns;         ///< the same times by the device's global timer
  std::uint64_t count;                    ///< events, of which the first most_events are kept
  std::uint64_t events[most_events];
};

struct BlockRecord {
  WarpRecord warps[most_warps];
};

/// How the multiprocessor's clock goes.
struct ClockRate {
  double ns_per_cycle;
  double tick_ns; ///< the step in which the device's global timer advances
};

} // namespace tessera::timeline
