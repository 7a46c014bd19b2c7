#pragma once

/// Waits for what another thread does soon: a thread that sleeps takes longer to wake than many a loop takes.

#include <sched.h>
#include <optional>

#include <tessera/detail/stopwatch.hpp>

namespace tessera::cpu {

/// One wait. At first the thread keeps its processor; then it offers it to other threads, one of which may be the one
/// that it waits for.
class ActiveWait {
 public:
  /// Waits a moment.
  void step() {
    if (++steps_ % steps_of_look == 0) look();
    if (seconds_ < alone) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    } else {
      sched_yield();
    }
  }
  /// Has it been at least so long? The clock is looked at now and then.
  bool is_longer_than(double seconds) const { return seconds_ > seconds; }

 private:
  void look() {
    if (!watch_) watch_.emplace();
    seconds_ = watch_->seconds();
  }
  static constexpr int steps_of_look = 32;
  static constexpr double alone = 50e-6; ///< seconds

  int steps_ = 0;
  std::optional<measure::HostStopwatch> watch_;
  double seconds_ = 0;
};

} // namespace tessera::cpu
