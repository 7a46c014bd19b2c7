#pragma once

/// Collects results while kernels run, so that an interrupt can report at once what has been measured.

#include <memory>
#include <mutex>
#include <vector>

#include "progress.hpp"
#include "reporters/reporter.hpp"

namespace tessera::compare_app {

/// All functions may be called from any thread.
class Board {
 public:
  Board(std::vector<std::unique_ptr<Reporter>> reporters, Progress& progress, bool use_mean);

  void begin_group(std::vector<Result> pending);
  /// Replaces the pending result at this position.
  void set(std::size_t position, Result result);
  /// Hands the group to the reporters.
  void end_group();
  void finish();
  /// Reports what was measured, unfinished kernels included, and leaves the process at once with this status.
  [[noreturn]] void leave(int status);

  bool any_wrong() const;
  bool any_timed() const;

 private:
  void report_group();

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Reporter>> reporters_;
  Progress& progress_;
  bool use_mean_;
  bool any_wrong_ = false;
  bool any_timed_ = false;
  std::vector<Result> group_;
};

} // namespace tessera::compare_app
