#pragma once

/// Many runs of one kernel recorded as one piece of work and timed by its replay: between short kernels a device then
/// does not wait for the host. How the runs meet their operands is as for single ones.

#include <memory>

#include <tessera/recording.hpp>

#include "measure/stopwatch.hpp"
#include "operands.hpp"
#include "plan.hpp"

namespace tessera::compare_app {

class RecordedRuns {
 public:
  /// Every set of operands in turn, each once if beta ≠ 0 (for a run changes what the next would read), else as often
  /// as it takes for 20 runs. On failure `runs` is null: Rejected where nothing records, else why this row cannot be.
  static Status record(const Task& task, const Operands& operands, double beta, std::unique_ptr<RecordedRuns>& runs);

  int count() const { return count_; }
  /// Prepares each C, then replays all runs; `seconds` is of one of them. The first set holds what is to be checked.
  Status time(double& seconds);

 private:
  RecordedRuns(Executor& executor, int count) : executor_(executor), count_(count), watch_(executor) {}

  Executor& executor_;
  int count_;
  std::unique_ptr<Recording> preparation_, runs_;
  measure::Stopwatch watch_;
};

} // namespace tessera::compare_app
