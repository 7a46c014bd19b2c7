#pragma once

/// Threads that share out tasks with the caller. They belong to no backend: a check of a kernel must not share its
/// scheduler, and a product on several executors must not wait in one of them.
///
/// The caller does not wait for a thread to start or to wake, which takes milliseconds on some virtual machines: it
/// takes tasks itself until none is left. So the tasks of a thread that the system refuses are done by the others. All
/// threads of a team end with it, and a process that forks between two products has none.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::detail {

/// A team that is kept for several rounds of tasks.
class ThreadTeam {
 public:
  /// Asks the system for so many threads; it may give fewer, or none.
  explicit ThreadTeam(std::size_t threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Calls task(i) for each i below `count`, on any of the threads, and returns when all are done; task(0) is the
  /// caller's. Tasks run in the contract's floating-point state. The first exception that a task throws is thrown again
  /// when all tasks are done. A request to cancel the caller's thread waits until run() has returned.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  void work() noexcept;
  void take_tasks(std::unique_lock<std::mutex>& lock) noexcept;
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, const Condition& condition);

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::size_t count_ = 0, next_ = 0, sleeping_ = 0;
  std::exception_ptr failure_; ///< of the tasks of this round, the first one
  std::atomic<std::size_t> done_ = 0;
  std::atomic<std::uint64_t> round_ = 0; ///< of calls of run()
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

/// Calls task(i) for each i below `count` as one round of a team, on at most `threads` threads, the caller's among
/// them. There may be many short tasks: a thread takes the next one without a lock. After an exception no task begins.
template <class Task>
void parallel_for(std::size_t count, int threads, const Task& task) {
  const std::size_t workers = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  if (workers == 0) return;
  std::atomic<std::size_t> next = workers;
  const auto work = [&](std::size_t worker) {
    try {
      for (std::size_t i = worker; i < count; i = next++) task(i);
    } catch (...) {
      next = count;
      throw;
    }
  };
  ThreadTeam(workers - 1).run(workers, std::ref(work));
}

} // namespace tessera::detail
