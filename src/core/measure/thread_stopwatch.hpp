#pragma once

/// The time that a thread has a processor, which other programs disturb less than the time that passes.

#include <time.h>

namespace tessera::measure {

/// Counts the seconds that the calling thread has a processor from the stopwatch's construction on.
class ThreadStopwatch {
 public:
  double seconds() const { return now() - start_; }

 private:
  static double now() {
    constexpr double nanosecond = 1e-9;
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + nanosecond * static_cast<double>(time.tv_nsec);
  }

  double start_ = now();
};

} // namespace tessera::measure
