#pragma once

/// Threads that stay together over many loops that follow each other, as the steps of a factorisation do. Between two
/// loops the helpers wait actively for a bounded time, because a thread that sleeps takes longer to wake than many a
/// loop takes. One thread leads; it never waits for a helper that has not come yet, but does that helper's tasks.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "body_reference.hpp"

namespace tessera::cpu {

class ActiveThreads {
 public:
  /// The caller is the leader.
  ActiveThreads();
  ActiveThreads(const ActiveThreads&) = delete;
  ActiveThreads& operator=(const ActiveThreads&) = delete;

  /// Calls work(0) on the leader's thread, which calls this method, and work(slot) on each helper that comes while that
  /// lasts and whose slot is less than `threads`. Returns when none of them works any more.
  void run(int threads, BodyReference<int> work);

  /// Takes part in the leader's loops with this slot, which is at least 1 and no other helper's, until dismiss().
  void help(int slot);

  /// Is called by the leader after its last loop. Helpers that come later return at once.
  void dismiss();

 private:
  /// What state_ consists of: the helpers that are in the loop, two flags, and the number of the loop.
  using State = std::uint64_t;
  static constexpr State helpers = 0xFFFF, is_open = 1 << 16, is_dismissed = 1 << 17, one_loop = 1 << 18;

  /// Returns when the state is another one, or earlier.
  void wait_while(State known);
  void wake_sleepers();

  alignas(64) std::atomic<State> state_ = 0;
  std::atomic<int> leaders_processor_;                   ///< when the last loop began
  alignas(64) const BodyReference<int>* work_ = nullptr; ///< while the loop is open
  int threads_ = 0;

  // std::atomic::wait() is not used: its table is a symbol that is unique in the process, which keeps a plug-in from
  // being unloaded.
  std::mutex mutex_;
  std::condition_variable woken_;
  std::atomic<int> sleepers_ = 0; ///< changed under the mutex
};

} // namespace tessera::cpu
