#include "team.hpp"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <algorithm>

namespace tessera::tbb {
namespace {

namespace onetbb = ::tbb;

class TbbTeam final : public cpu::Team {
 public:
  explicit TbbTeam(int threads) : Team(threads), threads_(threads), arena_(threads) {}

 private:
  /// Inside an arena, its size is the limit that its creator chose. Nested arenas never add threads: all arenas draw on
  /// one pool, which has as many threads as the process may use processors.
  int limit_here(int threads) const override {
    const bool in_arena = onetbb::this_task_arena::current_thread_index() != onetbb::task_arena::not_initialized;
    return in_arena ? std::min(threads, onetbb::this_task_arena::max_concurrency()) : threads;
  }

  void fork(int threads, cpu::SlotBody work) override {
    if (threads == threads_) return fork_in(arena_, threads, work);
    onetbb::task_arena arena(threads);
    fork_in(arena, threads, work);
  }

  /// Makes one TBB task for each thread. Where TBB has no worker for a task, the other workers take the tasks of its
  /// range.
  static void fork_in(onetbb::task_arena& arena, int threads, cpu::SlotBody work) {
    arena.execute([&] {
      onetbb::parallel_for(
          0, threads, [&](int) { work(onetbb::this_task_arena::current_thread_index()); },
          onetbb::static_partitioner{});
    });
  }

  int threads_;
  onetbb::task_arena arena_;
};

} // namespace

std::unique_ptr<cpu::Team> make_team(int threads) { return std::make_unique<TbbTeam>(threads); }

} // namespace tessera::tbb
