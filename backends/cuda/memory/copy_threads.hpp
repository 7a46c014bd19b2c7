#pragma once

/// Threads that copy bytes between pageable and pinned host memory. A single core moves far less than PCIe can
/// (docs/lab/cuda_executor.md). The threads sleep between copies and compute nothing. They are not the Team of
/// backends/cpu, which stands on OpenMP or TBB: this backend links neither, and may not include that one.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::cuda {

class CopyThreads {
 public:
  /// Makes `size` threads, of which the caller of run() is one. There are fewer if the system refuses threads.
  explicit CopyThreads(int size);
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;

  int size() const noexcept { return static_cast<int>(threads_.size()) + 1; }
  /// Calls work(index) once on each of the first `wanted` threads, or on all if there are fewer. The calling thread has
  /// index 0. Returns when all calls have returned. Precondition: no other run() is under way.
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
