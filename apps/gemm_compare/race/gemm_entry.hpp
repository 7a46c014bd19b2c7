#pragma once

#include <cstddef>
#include <memory>

#include "gemm_runner.hpp"
#include "recorded_runs.hpp"

namespace tessera::compare_app {

/// The state of one kernel in the race.
struct GemmRunner::Entry {
  Task task;
  Result result;
  std::size_t position = 0;                 ///< on the board
  int runs = 0;                             ///< that are still to be timed
  double expected = 0;                      ///< operations announced to the progress bar
  double seconds = 0;                       ///< of one run, as estimated
  std::unique_ptr<RecordedRuns> recorded{}; ///< null: runs are timed one by one

  bool active() const { return result.verdict == Verdict::Pending; }
  void fail(const Status& status) {
    result.verdict = status.code == StatusCode::Rejected ? Verdict::Rejected : Verdict::Failed;
    result.reason = status.why;
  }
};

} // namespace tessera::compare_app
