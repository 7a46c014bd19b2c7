#pragma once

/// Measures how fast memory and caches can be read and copied.

#include <array>

#include <tessera/detail/stopwatch.hpp>
#include <tessera/executor.hpp>

#include "cpu/device/isa.hpp"
#include "cpu/team.hpp"

namespace tessera::cpu {

/// Returns the seconds of the fastest of a few runs, because a ceiling is a time that nothing disturbs.
template <class Work>
double best_seconds(Work work) {
  constexpr int runs = 4; // and one that warms up
  return measure::fastest_host_seconds(runs, work);
}

/// Returns the bytes per second between the processor and memory for data that no cache holds. It measures reading and
/// copying (bytes read plus bytes written) and returns the faster one. Throws std::bad_alloc.
double memory_bandwidth(Team& team, Isa isa, int threads, std::size_t last_cache_bytes);

/// Measures how fast each cache is read, with data that fills half of it. Levels whose size the system does not report
/// are left out. L1 and L2 belong to one core, the last level is shared by all threads. A nearer cache counts as no
/// slower than a farther one or than memory, which is read at `memory` bytes per second. Throws std::bad_alloc.
std::array<CacheCeiling, 3> cache_bandwidths(Team& team, Isa isa, int threads, const Capabilities& machine,
                                             double memory);

} // namespace tessera::cpu
