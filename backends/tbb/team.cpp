#include "team.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

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

enum class Start { NotYet, Now, Done };
std::atomic<Start> start_of_tbb = Start::NotYet;

/// Lets TBB start, and says whether it has. TBB opens libraries of its own at its first use, under a lock of its own.
/// Meanwhile another thread may have the dynamic loader's lock, in the constructor of a library that multiplies, and
/// must not wait for TBB for ever.
bool has_started() {
  Start state = start_of_tbb.load(std::memory_order_acquire);
  if (state == Start::Done) return true;
  if (state == Start::NotYet && start_of_tbb.compare_exchange_strong(state, Start::Now)) {
    try {
      static_cast<void>(pool_size());
      onetbb::task_arena(1).initialize();
    } catch (...) {
      start_of_tbb = Start::NotYet; // the next call tries again
      throw;
    }
    start_of_tbb = Start::Done;
    return true;
  }
  constexpr int most_milliseconds = 2000;
  for (int waited = 0; waited < most_milliseconds && start_of_tbb == Start::Now; ++waited)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return start_of_tbb == Start::Done;
}

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

/// What a team has of TBB.
struct Pool {
  explicit Pool(int most) : threads(std::min(most, pool_size())), arena(threads), workers(arena) {}

  const int threads;
  onetbb::task_arena arena;
  WorkersOnAllProcessors workers;
  onetbb::affinity_partitioner last_loop;
  std::atomic<bool> last_loop_in_use = false;
};

class TbbTeam final : public cpu::Team {
 public:
  explicit TbbTeam(int threads) : Team(threads), most_threads_(threads) { static_cast<void>(is_absent()); }
  ~TbbTeam() override { delete pool_.load(); }
  TbbTeam(const TbbTeam&) = delete;
  TbbTeam& operator=(const TbbTeam&) = delete;

 private:
  /// Makes the pool as soon as TBB has started.
  bool is_absent() override {
    if (runtime_ended) return true;
    if (pool_.load(std::memory_order_acquire) != nullptr) return false;
    if (!has_started()) return true;
    auto made = std::make_unique<Pool>(most_threads_);
    Pool* none = nullptr;
    if (pool_.compare_exchange_strong(none, made.get())) static_cast<void>(made.release());
    return false;
  }
  Pool& pool() { return *pool_.load(std::memory_order_acquire); }

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

  /// The caller's thread stays outside of the arena, whose workers come when they can, perhaps after the leader's end.
  void fork_active(int threads, cpu::LeaderBody lead, const std::shared_ptr<cpu::ActiveThreads>& active) override {
    const int helpers = std::min(threads, pool().threads) - 1;
    cpu::before_others(active.get());
    for (int slot = 1; slot <= helpers; ++slot)
      pool().arena.enqueue([active, place = active.get(), slot] {
        cpu::after_others(place);
        active->help(slot);
      });
    lead();
  }

  void loop(Index count, int threads, cpu::TaskBody body, cpu::Schedule schedule) override {
    const auto loop_here = [&](onetbb::task_arena& arena) { loop_in(arena, count, body, schedule); };
    with_arena(threads, loop_here);
  }

  /// Calls use(arena) with an arena of so many threads.
  template <class Use>
  void with_arena(int threads, const Use& use) {
    const int size = std::min(threads, pool_size());
    if (size == pool().threads) return use(pool().arena);
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
    Pool& kept = pool();
    const bool is_free = !kept.last_loop_in_use.exchange(true, std::memory_order_acquire);
    onetbb::parallel_for(tasks, run_tasks, is_free ? kept.last_loop : fresh);
    if (is_free) kept.last_loop_in_use.store(false, std::memory_order_release);
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

  const int most_threads_;
  std::atomic<Pool*> pool_ = nullptr;
};

} // namespace

std::unique_ptr<cpu::Team> make_team(int threads) { return std::make_unique<TbbTeam>(threads); }

} // namespace tessera::tbb
