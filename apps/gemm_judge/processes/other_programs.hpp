#pragma once

/// What other programs take of this machine's processors while a kernel runs. The kernel has no part in the figure, so
/// that it can neither hide nor pretend that the machine is busy.

#include <sched.h>

#include <tessera/detail/stopwatch.hpp>

namespace tessera::judge {

class OtherPrograms {
 public:
  /// Begins to count.
  OtherPrograms();
  /// Returns the share of `threads` processors that others took from a kernel since this object was made: 0 if they
  /// left it as many, 1 if they left none. `own`: the processor time of the kernel's processes meanwhile, in seconds.
  /// Returns 0 where Linux does not tell. Linux counts in steps of 10 ms, so that less than three of them are none.
  double share_of(int threads, double own) const;

 private:
  struct Counted {
    double passed = 0; ///< seconds since the beginning
    double busy = 0;   ///< seconds that the processors worked, added up
    double judge = 0;  ///< seconds of them, for this process
  };
  Counted count() const;

  measure::HostStopwatch watch_;
  cpu_set_t processors_; ///< which this process and the kernel may use
  Counted before_;
};

} // namespace tessera::judge
