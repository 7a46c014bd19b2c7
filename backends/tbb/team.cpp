#include "tbb/team.hpp"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <algorithm>
#include <atomic>

namespace tessera::tbb {
namespace {

namespace onetbb = ::tbb;

class TbbTeam final : public cpu::Team {
 public:
  explicit TbbTeam(int threads) : Team(threads), threads_(threads), arena_(threads) {}

 private:
  /// Inside an arena its size is the limit that somebody chose. Nested arenas never add threads: all of them
  /// draw on one pool, which has as many as the process may use processors.
  int limit_here(int threads) const override {
    const bool in_arena = onetbb::this_task_arena::current_thread_index() != onetbb::task_arena::not_initialized;
    return in_arena ? std::min(threads, onetbb::this_task_arena::max_concurrency()) : threads;
  }

  void fork(Index count, int threads, cpu::TaskBody body) override {
    if (threads == threads_) return loop(arena_, count, threads, body);
    onetbb::task_arena arena(threads);
    loop(arena, count, threads, body);
  }

  /// One TBB task a thread, each of which takes the loop's tasks in their order until none is left: less work for TBB
  /// than a task each, and the order is kept. A thread that TBB has no worker for leaves its share to the others.
  static void loop(onetbb::task_arena& arena, Index count, int threads, cpu::TaskBody body) {
    std::atomic<Index> next = 0;
    arena.execute([&] {
      onetbb::parallel_for(
          0, threads,
          [&](int) {
            const int slot = onetbb::this_task_arena::current_thread_index();
            for (Index task; (task = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(task, slot);
          },
          onetbb::static_partitioner{});
    });
  }

  int threads_;
  onetbb::task_arena arena_;
};

} // namespace

std::unique_ptr<cpu::Team> make_team(int threads) { return std::make_unique<TbbTeam>(threads); }

} // namespace tessera::tbb
