#pragma once

/// Moves a thread off the processor of the thread that it helps. The system often wakes a thread on the processor of
/// the thread that woke it, even where another one is idle, and leaves it there for longer than its help is wanted.

#include <sched.h>

namespace tessera::cpu {

/// Lets the calling thread go on elsewhere if it runs on this processor and may run on others. Its processors are the
/// ones of before then.
inline void move_beside(int processor) noexcept {
  if (processor < 0 || sched_getcpu() != processor) return;
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof(all), &all) != 0) return; // a machine with more processors than the set has room for
  cpu_set_t others = all;
  CPU_CLR(processor, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof(others), &others) != 0) return;
  sched_setaffinity(0, sizeof(all), &all);
}

} // namespace tessera::cpu
