#include "active_threads.hpp"

#include "active_wait.hpp"
#include "beside.hpp"

namespace tessera::cpu {
namespace {

/// A helper that finds nothing to do for so long sleeps. It is longer than a panel of a large factorisation takes.
constexpr double longest_wait = 3e-3; // seconds

} // namespace

ActiveThreads::ActiveThreads() : leaders_processor_(sched_getcpu()) {}

void ActiveThreads::run(int threads, BodyReference<int> work) {
  leaders_processor_.store(sched_getcpu(), std::memory_order_relaxed);
  work_ = &work;
  threads_ = threads;
  const State before = state_.load(std::memory_order_relaxed);
  state_.store((before & ~(one_loop - 1)) + one_loop + is_open, std::memory_order_seq_cst);
  wake_sleepers();
  work(0);
  State now = state_.fetch_and(~is_open, std::memory_order_acq_rel);
  for (ActiveWait wait; (now & helpers) != 0; now = state_.load(std::memory_order_acquire)) wait.step();
}

void ActiveThreads::help(int slot) {
  State last = 0; // the number of the last loop, as the state has it
  for (;;) {
    State now = state_.load(std::memory_order_acquire);
    if ((now & is_dismissed) != 0) return;
    const State number = now & ~(one_loop - 1);
    if ((now & is_open) == 0 || number == last) {
      wait_while(now);
      continue;
    }
    if (!state_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) continue;
    last = number;
    if (slot < threads_) {
      move_beside(leaders_processor_.load(std::memory_order_relaxed));
      (*work_)(slot);
    }
    state_.fetch_sub(1, std::memory_order_release);
  }
}

void ActiveThreads::dismiss() {
  state_.fetch_or(is_dismissed, std::memory_order_seq_cst);
  wake_sleepers();
}

/// A helper says that it sleeps before it looks at the state a last time, so that one of the two threads sees the
/// other.
void ActiveThreads::wake_sleepers() {
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(mutex_);
  woken_.notify_all();
}

void ActiveThreads::wait_while(State known) {
  move_beside(leaders_processor_.load(std::memory_order_relaxed));
  for (ActiveWait wait; state_.load(std::memory_order_acquire) == known; wait.step())
    if (wait.is_longer_than(longest_wait)) {
      std::unique_lock lock(mutex_);
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      woken_.wait(lock, [&] { return state_.load(std::memory_order_seq_cst) != known; });
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
}

} // namespace tessera::cpu
