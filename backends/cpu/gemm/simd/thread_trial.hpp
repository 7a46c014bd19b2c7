#pragma once

/// Whether a small product is shared out: tried, where a thread computes the same product again and again.
///
/// A sleeping helper takes tens of microseconds to wake and one that spins less than one, but how much less differs
/// between runtimes and machines, and a product of 64³ is done in five. So products that stand alone keep to few
/// threads, and a burst of them tries more.

#include <algorithm>
#include <chrono>

#include <tessera/types.hpp>

namespace tessera::cpu {

class ThreadTrial {
 public:
  /// At a product's begin: true if it should use the larger number of threads.
  bool try_more(Index m, Index n, Index k) {
    const Clock::time_point now = Clock::now();
    if (now - begin_ > closely || m != m_ || n != n_ || k != k_) *this = ThreadTrial(m, n, k);
    begin_ = now;
    if (products_ <= trials) ++products_;
    return products_ > few_trials && (products_ <= trials || pays());
  }

  /// At its end.
  void end() {
    if (products_ > trials) return;
    const Clock::duration time = Clock::now() - begin_;
    if (products_ <= few_trials)
      time_with_few_ = std::min(time_with_few_, time);
    else if (products_ > wakes && time < time_with_few_)
      ++faster_;
  }

  ThreadTrial() = default;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto closely = std::chrono::microseconds(100);
  static constexpr int few_trials = 16;
  static constexpr int wakes = 128; ///< by then helpers are awake
  static constexpr int trials = 256;

  ThreadTrial(Index m, Index n, Index k) : m_(m), n_(n), k_(k) {}
  bool pays() const { return faster_ > (trials - wakes) / 2; }

  Index m_ = 0, n_ = 0, k_ = 0;
  Clock::time_point begin_;
  Clock::duration time_with_few_ = Clock::duration::max();
  int products_ = 0;
  int faster_ = 0;
};

} // namespace tessera::cpu
