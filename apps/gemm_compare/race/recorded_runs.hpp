#pragma once

/// Many runs of one kernel that are recorded as one piece of work and timed by its replay, so that a device does not
/// wait for the host between short kernels. The runs use their sets of operands in turn, as single runs do.

#include <memory>

#include <tessera/detail/stopwatch.hpp>
#include <tessera/performance/recording.hpp>

#include "operands.hpp"
#include "plan.hpp"

namespace tessera::compare_app {

class RecordedRuns {
 public:
  /// Records a run of every set of operands in turn: each set once if beta ≠ 0, because a run changes what the next one
  /// would read, else until there are 20 runs. On failure `runs` is null, and the status is Rejected where the queue
  /// cannot record, else the reason why this entry cannot be recorded.
  static Status record(const Task& task, const Operands& operands, double beta, std::unique_ptr<RecordedRuns>& runs);

  int count() const { return count_; }
  /// Prepares each C, then replays all runs. `seconds` is the time of one run. The result to check is in the first set.
  Status time(double& seconds);

 private:
  RecordedRuns(Executor& executor, int count) : executor_(executor), count_(count), watch_(executor) {}

  Executor& executor_;
  int count_;
  std::unique_ptr<Recording> preparation_, runs_;
  measure::Stopwatch watch_;
};

} // namespace tessera::compare_app
