#pragma once

/// The processes of a judged kernel, as the parent sees them in /proc: the worker that runs the kernel, and whatever
/// the kernel started. The parent stops them all, counts their processor time, and ends them.

#include <sys/types.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/detail/processors.hpp>

#include "control_group.hpp"

namespace tessera::judge {

/// Where a thread waits: the number of its system call, the call's arguments, and the stack pointer.
struct WaitingPlace {
  long call = -1; ///< −1: it does not wait in a system call
  std::uint64_t arguments[6] = {};
  std::uint64_t stack = 0;
};

class ProcessTree {
 public:
  /// `supervisor`: the child of this process. `worker`: the process that runs the kernel. Processes between the two are
  /// the judge's own. Where `with_group`, the worker and its later children get a control group, if one can be had.
  ProcessTree(pid_t supervisor, pid_t worker, bool with_group);

  pid_t worker() const noexcept { return worker_; }

  /// Returns the worker and all its descendants, also the ones that left its group and its session.
  std::vector<pid_t> processes() const;

  /// Stops every thread of every process, so that nothing in the kernel's reach changes any memory: by the control
  /// group, by the first process of the name space of processes, or one by one. Returns whether all of them stood still
  /// within two seconds.
  bool stop();
  /// Lets all processes go on that stop() has stopped, the worker first.
  void go_on() const;

  /// Lets the threads of all processes, which stand still, run on these processors alone, and so what they start later.
  /// Returns whether Linux did so for all.
  bool bind(const tessera::detail::ProcessorMask& processors) const;

  /// Returns the processor time of all processes so far, in seconds, with the time of children that ended. Without a
  /// control group, children are missing whose parent did not wait for them.
  double processor_seconds() const;
  /// Does Linux count for a control group, in microseconds?
  bool has_group() const noexcept { return group_ != nullptr; }
  /// Returns for how long so far some thread of the processes could have run and had no processor, in seconds. Empty
  /// without a control group.
  std::optional<double> stalled_seconds() const { return group_ ? group_->stalled_seconds() : std::nullopt; }
  /// What Linux counted for the worker's first thread, which runs the kernel, in seconds; 0 if it is unknown.
  struct ThreadTimes {
    double ran = 0;    ///< on a processor
    double waited = 0; ///< for a processor, while it could have run
  };
  ThreadTimes worker_thread() const;
  /// The same of the calling thread.
  static ThreadTimes own_thread();
  /// Returns the number of threads of these processes.
  static int count_tasks(const std::vector<pid_t>& processes);
  /// Returns how many threads run or could run at this moment.
  int running_threads() const;

  /// Returns where the worker's first thread waits. Empty if this machine does not tell.
  std::optional<WaitingPlace> worker_waits() const;
  /// Has the worker's first thread, which stands still, left the kernel? It is where it waits for commands, or a few
  /// frames of the stack from there, as where it has just replied. True if this machine does not tell.
  bool worker_has_returned(const WaitingPlace& idle) const;
  /// Returns whether no thread can do anything by itself: the worker's first thread waits for a command at `idle`, and
  /// all others wait without a time limit for another thread. Empty if this machine does not tell.
  std::optional<bool> is_quiet(const WaitingPlace& idle) const;

  /// Kills all processes until none is left, at most for a second.
  void kill_all() const;

 private:
  pid_t supervisor_;
  pid_t worker_;
  std::vector<pid_t> stopped_;
  std::unique_ptr<ControlGroup> group_;
  pid_t init_; ///< the worker's parent, which is the supervisor where there is no name space of processes
};

/// Is it the place of a thread that waits for the next command where `idle` waits for one?
bool is_same_place(const WaitingPlace& place, const WaitingPlace& idle);

} // namespace tessera::judge
