#include "team.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <algorithm>
#include <atomic>

#include "cpu/thread_sanitizer.hpp"

namespace tessera::tbb {
namespace {

namespace onetbb = ::tbb;

/// Returns the number of threads of TBB's pool, the caller's included. TBB prints a warning where an arena asks for
/// more, and does not give them.
int pool_size() {
  return static_cast<int>(onetbb::global_control::active_value(onetbb::global_control::max_allowed_parallelism));
}

/// The number of threads that TBB has started, or could have started, for this process.
std::atomic<int> pool_threads = 1;

/// A place that all threads know, for ThreadSanitizer.
char in_order = 0;

class TbbTeam final : public cpu::Team {
 public:
  explicit TbbTeam(int threads) : Team(threads), threads_(std::min(threads, pool_size())), arena_(threads_) {}

 private:
  /// Inside an arena, its size is the limit that its creator chose. Nested arenas never add threads: all arenas draw on
  /// one pool, which has as many threads as the process may use processors.
  int limit_here(int threads) const override {
    const bool in_arena = onetbb::this_task_arena::current_thread_index() != onetbb::task_arena::not_initialized;
    return in_arena ? std::min(threads, onetbb::this_task_arena::max_concurrency()) : threads;
  }

  void fork(int threads, cpu::SlotBody work) override {
    const int size = std::min(threads, pool_size());
    if (size == threads_) return fork_in(arena_, threads, work);
    onetbb::task_arena arena(size);
    fork_in(arena, threads, work);
  }

  int missing_for(int threads) const override {
    const int known = pool_threads.load(std::memory_order_relaxed);
    return threads <= known ? 0 : std::min(threads, pool_size()) - known;
  }
  void can_have(int threads) override { pool_threads.store(std::min(threads, pool_size())); }

  /// Makes one TBB task for each thread. Where TBB has no worker for a task, the other workers take the tasks of its
  /// range.
  static void fork_in(onetbb::task_arena& arena, int threads, cpu::SlotBody work) {
    cpu::before_others(&in_order);
    arena.execute([&] {
      onetbb::parallel_for(
          0, threads, [work](int) { run_in_order(work); }, onetbb::static_partitioner{});
    });
    cpu::after_others(&in_order);
  }

  static void run_in_order(cpu::SlotBody work) {
    cpu::after_others(&in_order);
    work(onetbb::this_task_arena::current_thread_index());
    cpu::before_others(&in_order);
  }

  int threads_;
  onetbb::task_arena arena_;
};

} // namespace

std::unique_ptr<cpu::Team> make_team(int threads) { return std::make_unique<TbbTeam>(threads); }

} // namespace tessera::tbb
