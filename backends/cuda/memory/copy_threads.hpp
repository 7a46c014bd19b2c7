#pragma once

/// A few threads that carry bytes between pageable and pinned host memory. One core moves 10 GB/s or so, PCIe 5
/// five times that. They sleep between copies and compute nothing.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::cuda {

class Crew {
 public:
  /// `size` members, one of which is whoever calls run(). Fewer where the system refuses threads.
  explicit Crew(int size);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int size() const noexcept { return static_cast<int>(threads_.size()) + 1; }
  /// Calls work(member) once for each of the first `members` (or all there are), 0 being this thread; returns when
  /// all have. One run at a time.
  void run(int members, const std::function<void(int)>& work);

 private:
  void serve(int member);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(int)>* work_ = nullptr;
  unsigned long long round_ = 0;
  int members_ = 0; ///< of this round
  int busy_ = 0;
  bool stop_ = false;
};

} // namespace tessera::cuda
