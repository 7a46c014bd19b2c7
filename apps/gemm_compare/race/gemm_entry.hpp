#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "gemm_runner.hpp"
#include "recorded_runs.hpp"

namespace tessera::compare_app {

/// The state of one kernel in the race.
struct GemmRunner::Entry : Contender {
  std::size_t position = 0;                 ///< on the board
  double expected = 0;                      ///< operations announced to the progress bar
  double seconds = 0;                       ///< of one run, as estimated
  std::vector<double> verified{};           ///< seconds of products that verify themselves
  std::unique_ptr<RecordedRuns> recorded{}; ///< null: runs are timed one by one
};

} // namespace tessera::compare_app
