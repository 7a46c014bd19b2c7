#include "team.hpp"

#include <algorithm>
#include <new>
#include <string>

#include <tessera/backend/log.hpp>

#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/processors.hpp>
#include <tessera/detail/stopwatch.hpp>
#include <tessera/detail/uncancelled.hpp>

namespace tessera::cpu {
namespace {

/// The tasks of a loop, cut into one range of neighbouring tasks for each worker.
class WorkerRanges {
 public:
  WorkerRanges(Index count, int workers) : count_(std::min(workers, most)) {
    for (int i = 0; i < count_; ++i) {
      ranges_[i].next.store(count * i / count_, std::memory_order_relaxed);
      ranges_[i].end = count * (i + 1) / count_;
    }
  }

  /// Runs the tasks of the worker's own range, then the tasks that are left in the other ranges. Returns whether there
  /// were any.
  bool work(int slot, TaskBody body) {
    const detail::ContractArithmetic contract;
    bool had_tasks = false;
    for (int i = 0; i < count_; ++i) {
      Range& range = ranges_[(slot + i) % count_];
      while (range.next.load(std::memory_order_relaxed) < range.end) {
        const Index task = range.next.fetch_add(1, std::memory_order_relaxed);
        if (task >= range.end) break;
        body(task, slot);
        had_tasks = true;
      }
    }
    return had_tasks;
  }

 private:
  static constexpr int most = 64; // of more workers, some begin with the same range
  struct alignas(64) Range {
    std::atomic<Index> next;
    Index end;
  };
  int count_;
  Range ranges_[most];
};

} // namespace

Team::~Team() = default;

/// Can the runtime run a loop of so many threads? The runtimes end the process where they cannot start a thread, so the
/// threads that they may have to start are tried first.
bool Team::runtime_has(int threads) {
  if (in_child_of_fork_ || is_absent()) return false;
  const int missing = missing_for(threads);
  if (missing <= 0) return true;
  if (refusal_.is_recent()) return false;
  if (can_start_threads(missing)) {
    can_have(threads);
    return true;
  }
  if (log_dispatch())
    log_line("the system refuses " + std::to_string(missing) +
             " more threads: products go on with fewer; raise the limit (ulimit -u, pids.max)");
  refusal_.remember();
  return false;
}

/// The runtime counts on the parent's threads, which the child does not have. The loops of the parent's other threads
/// do not go on here.
void Team::after_fork_in_child() noexcept {
  in_child_of_fork_ = true;
  in_use_.store(0);
  plain_.after_fork_in_child();
}

/// Calls work(slot) as fork() does. It returns whether it had tasks.
template <class Work>
void Team::fork_and_time(int threads, const Work& work) {
  const measure::HostStopwatch watch;
  std::atomic<double> tasks_ended = 0; // seconds from the start
  const auto timed = [&](int slot) {
    if (!work(slot)) return;
    const double now = watch.seconds();
    double before = tasks_ended.load(std::memory_order_relaxed);
    while (before < now && !tasks_ended.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
    }
  };
  fork(threads, timed);
  late_workers_.loop_ended(watch.seconds() - tasks_ended.load(std::memory_order_relaxed));
}

constinit thread_local Team::Together* Team::together_here = nullptr;

int Team::threads_here() const {
  if (together_here == nullptr || together_here->team != this) return limit_here(budget_);
  return together_here->in_loop ? 1 : together_here->threads;
}

/// The caller's own thread works in any case. The budget limits the helpers that it gets.
int Team::take_threads(int wanted) {
  const int before = in_use_.fetch_add(wanted);
  const int got = before == 0 ? wanted : std::clamp(budget_ - before, 1, wanted);
  in_use_.fetch_sub(wanted - got);
  return got;
}

void Team::run(Index count, int threads, TaskBody body, Schedule schedule) {
  if (count <= 0) return;
  int wanted = static_cast<int>(std::min<Index>(count, threads));
  if (Together* const here = together_here; here != nullptr && here->team == this) {
    wanted = here->in_loop ? 1 : std::min(wanted, here->threads);
    if (wanted > 1) {
      here->in_loop = true;
      WorkerRanges ranges(count, wanted);
      here->active->run(wanted, [&](int slot) { ranges.work(slot, body); });
      here->in_loop = false;
      return;
    }
  } else if (wanted > 1) {
    wanted = limit_here(wanted);
  }
  if (wanted > 1) {
    const int got = take_threads(wanted);
    if (got > 1) {
      const detail::Uncancelled whole; // the other threads work with what this one has on its stack
      WorkerRanges ranges(count, got);
      const auto in_contract = [&](Index task, int slot) {
        const detail::ContractArithmetic contract;
        body(task, slot);
      };
      if (!runtime_has(got) || (schedule == Schedule::Ranges && late_workers_.are_expected()))
        plain_.run(got, [&](int slot) { ranges.work(slot, body); });
      else if (schedule == Schedule::Ranges)
        fork_and_time(got, [&](int slot) { return ranges.work(slot, body); });
      else
        loop(count, got, in_contract, schedule);
      in_use_.fetch_sub(got);
      return;
    }
    in_use_.fetch_sub(got);
  }
  for (Index task = 0; task < count; ++task) body(task, 0);
}

void Team::together(int threads, LeaderBody lead) {
  if (together_here != nullptr) return lead();
  const int wanted = threads > 1 ? limit_here(threads) : 1;
  if (wanted <= 1) return lead();
  const std::shared_ptr<ActiveThreads> active = make_active(wanted);
  if (!active) return lead(); // each loop finds threads for itself
  const int got = take_threads(wanted);
  if (got > 1)
    lead_active(active, got, lead);
  else
    lead();
  in_use_.fetch_sub(got);
}

/// Returns null where threads that wait actively would take the time of others, and where memory is short.
std::shared_ptr<ActiveThreads> Team::make_active(int threads) {
  try {
    if (threads > detail::processors_of_process()) return nullptr;
    return std::shared_ptr<ActiveThreads>(new ActiveThreads); // make_shared() has a symbol unique in the process
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Team::lead_active(const std::shared_ptr<ActiveThreads>& active, int threads, LeaderBody lead) {
  const detail::Uncancelled whole;
  const measure::HostStopwatch watch;
  double led_until = 0; // seconds from the start
  const auto lead_here = [&] {
    Together here{this, active.get(), threads, false};
    together_here = &here;
    lead();
    together_here = nullptr;
    active->dismiss();
    led_until = watch.seconds();
  };
  if (!runtime_has(threads) || late_workers_.are_expected()) {
    plain_.lend(threads - 1, active);
    lead_here();
    plain_.withdraw(*active);
    return;
  }
  fork_active(threads, lead_here, active);
  late_workers_.loop_ended(watch.seconds() - led_until);
}

void Team::fork_active(int threads, LeaderBody lead, const std::shared_ptr<ActiveThreads>& active) {
  fork(threads, [&](int slot) { slot == 0 ? lead() : active->help(slot); });
}

} // namespace tessera::cpu
