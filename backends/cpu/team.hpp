#pragma once

/// The one thing in which OpenMP and TBB differ: a fork-join loop over tasks.
///
/// There are no barriers inside a loop, for TBB promises none: work that must be finished before other work begins
/// is a loop of its own. Tasks should be few times as many as threads, each some microseconds of work at least.
///
/// Each worker has a share of neighbouring tasks, the same in each loop of that size, so that what it wrote is still in
/// its cache; whoever is done takes from the others' shares.

#include <atomic>
#include <memory>
#include <type_traits>

#include <tessera/types.hpp>

namespace tessera::cpu {

/// A reference to something callable, which must outlive it. It must not throw.
template <class... Arguments>
class BodyReference {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, BodyReference>) BodyReference(F&& body)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* object, Arguments... arguments) {
          (*static_cast<std::remove_reference_t<F>*>(object))(arguments...);
        }) {}
  void operator()(Arguments... arguments) const { call_(object_, arguments...); }

 private:
  void* object_;
  void (*call_)(void*, Arguments...);
};

/// body(task, slot). `slot` numbers the worker: two tasks that run at the same time have different slots, all less than
/// the loop's limit of threads. Scratch memory is indexed by it.
using TaskBody = BodyReference<Index, int>;
using SlotBody = BodyReference<int>;

class Team {
 public:
  /// `budget`: threads that all loops running at the same time share, so that concurrent callers do not
  /// oversubscribe the machine. A single caller that asks for more gets them.
  explicit Team(int budget) : budget_(budget) {}
  virtual ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Runs body(task, slot) for each task in [0, count), on at most `threads` threads including the caller's.
  /// Returns when all are done. Fewer threads are used inside a parallel region, where other callers hold part
  /// of the budget, and where there are fewer tasks.
  void run(Index count, int threads, TaskBody body);

  int threads_here() const { return limit_here(budget_); }

 protected:
  /// How many threads a loop may use here: 1 inside a parallel region of the same runtime.
  virtual int limit_here(int threads) const = 0;
  /// Calls work(slot) on up to `threads` threads at a time, the caller's among them, at least once; threads ≥ 2.
  virtual void fork(int threads, SlotBody work) = 0;

 private:
  const int budget_;
  std::atomic<int> in_use_ = 0;
};

} // namespace tessera::cpu
