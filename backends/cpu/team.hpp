#pragma once

/// A fork-join loop over tasks, the one thing in which OpenMP and TBB differ.
///
/// A loop has no barriers inside, because TBB has none. Work that must be done before other work begins is a separate
/// loop. A loop should have a few times as many tasks as threads, each of at least some microseconds of work.
///
/// Loops that follow each other closely are run together(): the runtime then gives its threads once for all of them.
///
/// Each worker begins with a range of neighbouring tasks. The range is equal in all loops of one size, so that the
/// elements that a worker wrote are still in its cache. A worker whose range is done takes tasks from the other ranges.

#include <atomic>
#include <memory>

#include <tessera/backend/fork.hpp>
#include <tessera/types.hpp>

#include "active_threads.hpp"
#include "body_reference.hpp"
#include "late_workers.hpp"
#include "plain_threads.hpp"

namespace tessera::cpu {

/// body(task, slot) runs one task. `slot` numbers the worker: tasks that run at the same time have different slots, all
/// less than the loop's limit of threads. Scratch memory is indexed by the slot. A worker runs it in the
/// contract's floating-point state. The caller of Team::run() is in that state already.
using TaskBody = BodyReference<Index, int>;
using SlotBody = BodyReference<int>;
using LeaderBody = BodyReference<>;

/// How the tasks of a loop are shared out to the threads.
enum class Schedule {
  Ranges,   ///< a range for each worker, and the tasks of the other ranges after it; the choice of all fast kernels
  Static,   ///< OpenMP's schedule(static), TBB's static_partitioner: a range for each worker, and no more
  Dynamic,  ///< OpenMP's schedule(dynamic), TBB's simple_partitioner: a worker that is free takes one task
  Auto,     ///< TBB's auto_partitioner: ranges are halved while workers are idle; OpenMP's schedule(guided)
  Affinity, ///< TBB's affinity_partitioner: as Auto, but workers begin with their tasks of the last loop; OpenMP:
            ///< guided
};

/// Where the runtime has no threads to give, because the process is the child of a fork or the system refuses threads,
/// or where its threads come late because the machine is busy, plain threads run the loop with the same ranges.
class Team : private ForkObserver {
 public:
  /// `budget` is the number of threads that all loops share that run at the same time, so that concurrent callers do
  /// not oversubscribe the machine. A single caller that asks for more threads gets them.
  explicit Team(int budget) : budget_(budget) {}
  ~Team() override;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Runs body(task, slot) for each task in [0, count), on at most `threads` threads including the caller's, and
  /// returns when all tasks are done. It uses fewer threads inside a parallel region, while other callers hold part of
  /// the budget, and where there are fewer tasks.
  /// `schedule` says how the runtime shares the tasks out; without threads of the runtime it is Ranges.
  void run(Index count, int threads, TaskBody body, Schedule schedule = Schedule::Ranges);

  /// Calls lead() on the caller's thread. Loops that it runs on this team have up to `threads` threads, which wait
  /// actively between them (active_threads.hpp). It is for work that lasts many times as long as a thread takes to
  /// wake. Where lead() is called within lead(), or within a task, nothing changes.
  void together(int threads, LeaderBody lead);

  /// Returns how many threads a loop could use if the caller started one here.
  int threads_here() const;

 protected:
  /// Returns how many of `threads` threads a loop may use here: 1 inside a parallel region of OpenMP, at most an
  /// arena's size inside TBB.
  virtual int limit_here(int threads) const = 0;
  /// Calls work(slot) at least once, on up to `threads` threads at a time, of which the caller's is one; threads ≥ 2.
  virtual void fork(int threads, SlotBody work) = 0;
  /// Calls lead() on the caller's thread, and active->help(slot) on up to `threads` − 1 threads beside it; threads ≥ 2.
  /// In the base class fork() does that, and slot 0 is the caller's.
  virtual void fork_active(int threads, LeaderBody lead, const std::shared_ptr<ActiveThreads>& active);
  /// Calls body(task, slot) once for each task in [0, count), on up to `threads` threads, by a loop of the runtime with
  /// this schedule, which is not Ranges; threads ≥ 2.
  virtual void loop(Index count, int threads, TaskBody body, Schedule schedule) = 0;
  /// Returns how many threads the runtime may have to start for such a loop; 0 or less if it has them all.
  virtual int missing_for(int threads) const = 0;
  /// Is the runtime gone, because the process ends, or not there yet? Then plain threads run loops, and no other method
  /// but limit_here() is called.
  virtual bool is_absent() { return false; }
  /// Is called after the system let that many threads start.
  virtual void can_have(int threads) = 0;

 private:
  /// A call of together(), as the leader's thread knows it.
  struct Together {
    const Team* team;
    ActiveThreads* active;
    int threads;
    bool in_loop;
  };
  static constinit thread_local Together* together_here;

  bool runtime_has(int threads);
  /// Takes threads from the budget, the caller's included, and returns how many there are.
  int take_threads(int wanted);
  static std::shared_ptr<ActiveThreads> make_active(int threads);
  void lead_active(const std::shared_ptr<ActiveThreads>& active, int threads, LeaderBody lead);
  template <class Work>
  void fork_and_time(int threads, const Work& work);
  void before_fork() noexcept override { plain_.before_fork(); }
  void after_fork_in_parent() noexcept override { plain_.after_fork_in_parent(); }
  void after_fork_in_child() noexcept override;

  const int budget_;
  std::atomic<int> in_use_ = 0;
  bool in_child_of_fork_ = false;
  Refusal refusal_;
  LateWorkers late_workers_;
  PlainThreads plain_;
};

} // namespace tessera::cpu
