#pragma once

/// A few threads that carry bytes between pageable and pinned host memory. One core moves 10 GB/s or so, PCIe 5
/// five times that. They sleep between copies and compute nothing.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::cuda {

class CopyThreads {
 public:
  /// `size` members, one of which is whoever calls run(). Fewer where the system refuses threads.
  explicit CopyThreads(int size);
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;

  int size() const noexcept { return static_cast<int>(threads_.size()) + 1; }
  /// Calls work(member) once for each of the first `members` (or all there are), 0 being this thread; returns when
  /// all have. One run at a time.
  void run(int wanted, const std::function<void(int)>& work);

 private:
  void serve(int index);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(int)>* work_ = nullptr;
  unsigned long long round_ = 0;
  int wanted_ = 0; ///< Threads that work in this round.
  int busy_ = 0;
  bool stop_ = false;
};

} // namespace tessera::cuda
