#include "team.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <algorithm>
#include <atomic>
#include <new>

#include <tessera/detail/processors.hpp>

#include "cpu/thread_sanitizer.hpp"

namespace tessera::tbb {
namespace {

namespace onetbb = ::tbb;

int allowed_parallelism() {
  return static_cast<int>(onetbb::global_control::active_value(onetbb::global_control::max_allowed_parallelism));
}

/// TBB counts the processors of the process's first thread. Where an OpenMP runtime has bound that thread, this lets
/// the pool have the processors of the process. A lower limit that the program sets still holds: TBB takes the lowest
/// one.
void raise_allowed_parallelism() {
  const int processors = detail::processors_of_process();
  if (processors <= allowed_parallelism()) return;
  static const onetbb::global_control raised(onetbb::global_control::max_allowed_parallelism,
                                             static_cast<std::size_t>(processors));
}

/// Returns the number of threads of TBB's pool, the caller's included. TBB prints a warning where an arena asks for
/// more, and does not give them.
int pool_size() {
  static const bool raised = (raise_allowed_parallelism(), true);
  static_cast<void>(raised);
  return allowed_parallelism();
}

/// The number of threads that TBB has started, or could have started, for this process.
std::atomic<int> pool_threads = 1;

/// TBB's static objects are destroyed after the static objects of this plug-in, which is linked with TBB. Handlers of
/// exit() that were registered before the plug-in was loaded come later still, and may multiply.
std::atomic<bool> runtime_ended = false;
struct AtEnd {
  ~AtEnd() { runtime_ended = true; }
} const at_end;

/// TBB opens libraries of its own when it is first used, under a lock. That happens here, while this plug-in is loaded
/// and this thread has the dynamic loader's lock. Later, another thread may have it, in a constructor that waits for
/// TBB's lock. Where memory is short, the first use does it.
[[maybe_unused]] const bool has_started = [] {
  try {
    static_cast<void>(pool_size());
    onetbb::task_arena(1).initialize();
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}();

/// A place that all threads know, for ThreadSanitizer.
char in_order = 0;

/// Lets the workers of an arena run on all processors of the process. TBB starts them from a caller's thread, whose
/// processors they inherit.
class WorkersOnAllProcessors final : public onetbb::task_scheduler_observer {
 public:
  explicit WorkersOnAllProcessors(onetbb::task_arena& arena) : task_scheduler_observer(arena) { observe(true); }
  ~WorkersOnAllProcessors() override { observe(false); }
  void on_scheduler_entry(bool is_worker) override {
    if (is_worker) detail::leave_inherited_place();
  }
};

class TbbTeam final : public cpu::Team {
 public:
  explicit TbbTeam(int threads)
      : Team(threads), threads_(std::min(threads, pool_size())), arena_(threads_), workers_(arena_) {}

 private:
  bool has_ended() const override { return runtime_ended; }

  /// Inside an arena, its size is the limit that its creator chose. Nested arenas never add threads: all arenas draw on
  /// one pool, which has as many threads as the process may use processors.
  int limit_here(int threads) const override {
    if (runtime_ended) return threads;
    const bool in_arena = onetbb::this_task_arena::current_thread_index() != onetbb::task_arena::not_initialized;
    return in_arena ? std::min(threads, onetbb::this_task_arena::max_concurrency()) : threads;
  }

  void fork(int threads, cpu::SlotBody work) override {
    const auto fork_here = [&](onetbb::task_arena& arena) { fork_in(arena, threads, work); };
    with_arena(threads, fork_here);
  }

  void loop(Index count, int threads, cpu::TaskBody body, cpu::Schedule schedule) override {
    const auto loop_here = [&](onetbb::task_arena& arena) { loop_in(arena, count, body, schedule); };
    with_arena(threads, loop_here);
  }

  /// Calls use(arena) with an arena of so many threads.
  template <class Use>
  void with_arena(int threads, const Use& use) {
    const int size = std::min(threads, pool_size());
    if (size == threads_) return use(arena_);
    onetbb::task_arena arena(size);
    const WorkersOnAllProcessors workers(arena);
    use(arena);
  }

  void loop_in(onetbb::task_arena& arena, Index count, cpu::TaskBody body, cpu::Schedule schedule) {
    const onetbb::blocked_range<Index> tasks(0, count);
    const auto run_tasks = [body](const onetbb::blocked_range<Index>& range) {
      cpu::after_others(&in_order);
      const int slot = onetbb::this_task_arena::current_thread_index();
      for (Index task = range.begin(); task < range.end(); ++task) body(task, slot);
      cpu::before_others(&in_order);
    };
    cpu::before_others(&in_order);
    arena.execute([&] {
      if (schedule == cpu::Schedule::Static)
        onetbb::parallel_for(tasks, run_tasks, onetbb::static_partitioner{});
      else if (schedule == cpu::Schedule::Dynamic)
        onetbb::parallel_for(tasks, run_tasks, onetbb::simple_partitioner{});
      else if (schedule == cpu::Schedule::Auto)
        onetbb::parallel_for(tasks, run_tasks, onetbb::auto_partitioner{});
      else
        loop_where_it_was(tasks, run_tasks);
    });
    cpu::after_others(&in_order);
  }

  /// Runs a loop with the affinity_partitioner, whose memory of the last loop serves one loop at a time. A loop that
  /// runs beside it begins with an empty memory.
  template <class Body>
  void loop_where_it_was(const onetbb::blocked_range<Index>& tasks, const Body& run_tasks) {
    onetbb::affinity_partitioner fresh;
    const bool is_free = !last_loop_in_use_.exchange(true, std::memory_order_acquire);
    onetbb::parallel_for(tasks, run_tasks, is_free ? last_loop_ : fresh);
    if (is_free) last_loop_in_use_.store(false, std::memory_order_release);
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
  WorkersOnAllProcessors workers_;
  onetbb::affinity_partitioner last_loop_;
  std::atomic<bool> last_loop_in_use_ = false;
};

} // namespace

std::unique_ptr<cpu::Team> make_team(int threads) { return std::make_unique<TbbTeam>(threads); }

} // namespace tessera::tbb
