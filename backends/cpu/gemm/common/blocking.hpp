#pragma once

/// Cuts a product into blocks for the caches and into tasks for the threads.

#include <algorithm>
#include <type_traits>

#include <tessera/executor.hpp>

#include "microkernel.hpp"

namespace tessera::cpu {

template <class Integer>
constexpr Integer ceil_div(Integer x, std::type_identity_t<Integer> y) {
  return (x + y - 1) / y;
}

/// Returns into how many parts to cut a product of which each part is `tasks` tasks. It is the largest number, from
/// `most` down to three quarters of it, that gives all threads equally many tasks; `most` if there is none. Unequal
/// numbers cost time where each thread has few tasks.
constexpr Index even_parts(Index most, Index tasks, Index threads) {
  for (Index parts = most; 4 * parts > 3 * most; --parts)
    if (parts * tasks % threads == 0) return parts;
  return most;
}

/// Multiply-adds that make one more thread worth waking: some microseconds of work.
inline constexpr double enough_for_a_thread = 1 << 18;
/// The fewest multiply-adds for which threads stay together over several loops (active_threads.hpp). A thread that
/// sleeps takes up to a tenth of a millisecond to wake, and the end has to wait for it.
inline constexpr double enough_to_stay_together = 1 << 23;

/// Returns how many of `most` threads get at least `enough` of `work` multiply-adds each; at least 1.
inline int threads_for(double work, int most, double enough = enough_for_a_thread) {
  return static_cast<int>(std::clamp(work / enough, 1.0, static_cast<double>(most)));
}

/// Returns the size of a core's L2 in bytes, or a size that processors have had for long, if the system reports none.
inline Index l2_bytes_of(const Capabilities& machine) {
  return machine.l2_bytes > 0 ? static_cast<Index>(machine.l2_bytes) : Index{256} << 10;
}

/// The sizes of blocks and tasks, in elements. block_m and task_m are multiples of tile_m; block_n and task_n are
/// multiples of tile_n.
struct Blocking {
  Index block_m; ///< rows of A that are packed at a time; they stay in the last-level cache
  Index block_n; ///< columns of B that are packed at a time; they stay in the last-level cache
  Index task_m;  ///< rows of C that one task computes within a block; its part of A stays in L2
  Index task_n;  ///< columns of C that one task computes within a block
  int threads;
};

/// Chooses the sizes for an m×n×k product on at most `threads` threads, in elements as BlockedCall counts them.
/// Source: Goto and van de Geijn (2008); the fractions of the caches were measured, see docs/lab/cpu_gemm.md.
template <class T>
Blocking choose_blocking(const Capabilities& machine, const MicroKernel<T>& kernel, Index m, Index n, Index k,
                         int threads);

} // namespace tessera::cpu
