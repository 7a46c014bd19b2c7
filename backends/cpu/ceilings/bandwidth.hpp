#pragma once

/// How fast memory and caches can be read and copied, measured.

#include <algorithm>
#include <array>
#include <chrono>

#include <tessera/executor.hpp>

#include "cpu/device/isa.hpp"
#include "cpu/team.hpp"

namespace tessera::cpu {

/// Seconds of the fastest of a few runs: a ceiling is what nothing disturbs.
template <class Work>
double best_seconds(Work work) {
  constexpr int repetitions = 5;
  double best = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

/// Bytes per second between the processor and memory, of data that no cache holds: reading it, or copying it (bytes
/// read plus bytes written), whichever is faster. Throws std::bad_alloc.
double memory_bandwidth(Team& team, Isa isa, int threads, std::size_t last_cache_bytes);

/// Reading half of what each cache holds; levels of which the system does not tell the size are left out. L1 and L2
/// are each core's own, the last one is everybody's. A nearer cache counts as no slower than a farther one, or than
/// memory, which reads at `memory`. Throws std::bad_alloc.
std::array<CacheCeiling, 3> cache_bandwidths(Team& team, Isa isa, int threads, const Capabilities& machine,
                                             double memory);

} // namespace tessera::cpu
