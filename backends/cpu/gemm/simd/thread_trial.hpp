#pragma once

/// Decides by trial how many threads a small product uses, where a thread computes the same product again and again.
///
/// A helper thread that sleeps takes tens of microseconds to wake, and a helper that spins takes less than one. How
/// much less differs between runtimes and machines, and a product of 64³ takes five. So a product that stands alone
/// uses few threads, and products that follow each other closely try more. Measurements: docs/lab/cpu_gemm.md.

#include <algorithm>
#include <chrono>

#include <tessera/types.hpp>

namespace tessera::cpu {

/// The trial of one calling thread. It times the first products with few threads, lets the helpers wake, times more
/// products with more threads, and keeps the larger number if most of these were faster. A product of another shape, or
/// one that begins more than `closely` after the last one began, begins a new trial.
class ThreadTrial {
 public:
  /// Call it when a product begins. Returns true if the product should use the larger number of threads.
  bool try_more(Index m, Index n, Index k) {
    const Clock::time_point now = Clock::now();
    if (now - begin_ > closely || m != m_ || n != n_ || k != k_) *this = ThreadTrial(m, n, k);
    begin_ = now;
    if (products_ <= trials) ++products_;
    return products_ > few_trials && (products_ <= trials || pays());
  }

  /// Call it when the product ends.
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
  static constexpr int few_trials = 16; ///< products with few threads
  static constexpr int wakes = 128;     ///< after so many products the helpers are awake
  static constexpr int trials = 256;    ///< all products of the trial

  ThreadTrial(Index m, Index n, Index k) : m_(m), n_(n), k_(k) {}
  bool pays() const { return faster_ > (trials - wakes) / 2; }

  Index m_ = 0, n_ = 0, k_ = 0;
  Clock::time_point begin_;
  Clock::duration time_with_few_ = Clock::duration::max();
  int products_ = 0;
  int faster_ = 0;
};

} // namespace tessera::cpu
