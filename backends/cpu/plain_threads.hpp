#pragma once

/// Threads of our own that stand in for the threads of OpenMP or TBB where the runtime cannot give any: in the child of
/// a fork, whose parent's worker threads are gone while the runtime still counts on them, and where the system refuses
/// threads, which the runtimes do not survive.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "active_threads.hpp"
#include "body_reference.hpp"

namespace tessera::cpu {

/// Remembers that the system refused a thread, so that not each loop asks again.
class Refusal {
 public:
  bool is_recent() const noexcept { return until_.load() > now(); }
  void remember() noexcept { until_.store(now() + std::chrono::nanoseconds(std::chrono::seconds(1)).count()); }

 private:
  static long long now() noexcept { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }
  using Clock = std::chrono::steady_clock;
  std::atomic<long long> until_ = 0;
};

/// Helper threads that sleep between loops, if the next one does not follow at once. Several callers may run loops at
/// the same time.
class PlainThreads {
 public:
  PlainThreads() = default;
  PlainThreads(const PlainThreads&) = delete;
  PlainThreads& operator=(const PlainThreads&) = delete;
  /// Precondition: no loop is under way.
  ~PlainThreads();

  /// Calls work(slot) on the caller's thread and on up to `threads` − 1 helpers, each with its own slot in
  /// [0, threads). It starts the helpers that are missing and does with fewer where the system refuses them.
  void run(int threads, BodyReference<int> work);

  /// Lets up to `helpers` helpers come to active threads, with slots from 1 on, until withdraw(). They may leave it
  /// later than its leader.
  void lend(int helpers, const std::shared_ptr<ActiveThreads>& active);
  void withdraw(const ActiveThreads& active);

  /// The fork's three steps (ForkObserver). In the child there are no helpers; later loops start new ones.
  void before_fork() noexcept { mutex_.lock(); }
  void after_fork_in_parent() noexcept { mutex_.unlock(); }
  void after_fork_in_child() noexcept;

 private:
  struct Loop;
  /// Active threads that want more helpers.
  struct Lent {
    std::shared_ptr<ActiveThreads> active;
    int next_slot, slots;
  };
  static void* serve(void* self);
  void serve();
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  void serve_active(std::unique_lock<std::mutex>& lock);
  bool has_work() const { return stop_ || loops_ != nullptr || !lent_.empty(); }
  void start_helpers(int wanted);

  std::mutex mutex_;
  std::condition_variable wake_; ///< a loop wants helpers, or the helpers have to end
  std::condition_variable left_; ///< a helper has left a loop, or ended
  Loop* loops_ = nullptr;        ///< the loops that want more helpers
  std::vector<Lent> lent_;
  std::atomic<unsigned> calls_ = 0; ///< counts what helpers were asked for
  int helpers_ = 0;
  bool stop_ = false;
  Refusal refusal_;
};

/// Says whether the system lets `count` threads start that live at the same time. They have ended when the function
/// returns. It takes some ten microseconds for each thread.
bool can_start_threads(int count);

} // namespace tessera::cpu
