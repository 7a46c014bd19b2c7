#pragma once

/// How a product is cut into blocks for the caches and tasks for the threads.

#include <algorithm>
#include <type_traits>

#include <tessera/executor.hpp>

namespace tessera::cpu {

template <class Integer>
constexpr Integer ceil_div(Integer x, std::type_identity_t<Integer> y) {
  return (x + y - 1) / y;
}

/// Into how many parts to cut something, `most` at most, where each part means `tasks` tasks: so many that all threads
/// get equally many, if that is not far from `most`. Unequal ones matter where tasks are few.
constexpr Index even_parts(Index most, Index tasks, Index threads) {
  for (Index parts = most; 4 * parts > 3 * most; --parts)
    if (parts * tasks % threads == 0) return parts;
  return most;
}

/// Multiply-adds worth a thread: some microseconds of work.
inline constexpr double enough_for_a_thread = 1 << 18;

/// Of at most `most` threads those that `work` multiply-adds are enough for, `enough` each.
inline int threads_for(double work, int most, double enough = enough_for_a_thread) {
  return static_cast<int>(std::clamp(work / enough, 1.0, static_cast<double>(most)));
}

/// All sizes in elements; block_m and task_m are multiples of tile_m, block_n and task_n of tile_n.
struct Blocking {
  Index block_m; ///< rows of A and
  Index block_n; ///< columns of B that are packed at a time; both stay in the last-level cache
  Index task_m;  ///< rows and columns of C that one task computes, within a block; its part of A stays in L2
  Index task_n;
  int threads;
};

/// `element` is the size of one element in bytes.
Blocking choose_blocking(const Capabilities& machine, Index m, Index n, Index k, int tile_m, int tile_n,
                         std::size_t element, int threads);

} // namespace tessera::cpu
