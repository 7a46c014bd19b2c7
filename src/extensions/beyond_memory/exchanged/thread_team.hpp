#pragma once

/// Threads that share out tasks with the caller, again and again. The caller does not wait for a thread to start or to
/// wake, which takes milliseconds on some virtual machines: it takes tasks itself until none is left.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::detail {

class ThreadTeam {
 public:
  /// Asks the system for so many threads; it may give fewer.
  explicit ThreadTeam(std::size_t threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Calls task(i) for each i below `count`, on any of the threads, and returns when all are done. `task` must not
  /// throw.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  void work() noexcept;
  void take_tasks(std::unique_lock<std::mutex>& lock);
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, const Condition& condition);

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::size_t count_ = 0, next_ = 0, sleeping_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<std::uint64_t> round_ = 0; ///< of calls of run()
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

} // namespace tessera::detail
