#pragma once

/// Notices that a runtime's workers come late, because other programs have their processors.
///
/// A loop of libgomp ends when each of its threads has come, even where no task is left for it, and the threads spin
/// while they wait. On a busy machine they spin in the time that the late ones need, so that a short loop takes
/// hundreds of times as long. Threads that sleep while they wait come in time: such a machine runs its loops on them,
/// and tries the runtime again now and then.

#include <atomic>

namespace tessera::cpu {

class LateWorkers {
 public:
  /// Should the next loop do without the runtime's threads? Call it once before each loop.
  bool are_expected() noexcept {
    if (loops_without_.load(std::memory_order_relaxed) <= 0) return false;
    return loops_without_.fetch_sub(1, std::memory_order_relaxed) > 0;
  }

  /// Is called after a loop of the runtime that ended so long after its last task.
  void loop_ended(double seconds_after_tasks) noexcept {
    const bool late = seconds_after_tasks > patience;
    const int next = next_without_.load(std::memory_order_relaxed);
    if (late) loops_without_.store(next, std::memory_order_relaxed);
    const int wanted = late ? (next < most_without ? 2 * next : next) : first_without;
    if (wanted != next) next_without_.store(wanted, std::memory_order_relaxed);
  }

 private:
  /// Several times as long as a sleeping thread needs on an idle machine until it runs.
  static constexpr double patience = 500e-6;
  /// A machine that is busy for a moment costs few loops, and one that stays busy is tried less and less often.
  static constexpr int first_without = 64, most_without = 4096;

  std::atomic<int> loops_without_ = 0; ///< loops that will do without the runtime
  std::atomic<int> next_without_ = first_without;
};

} // namespace tessera::cpu
