#pragma once

/// gemm_compare tune: races the kernels of one backend over a grid of shapes and keeps, for each shape, the fastest
/// kernel that passed its check. gemm() chooses by that table. Shapes in the table are not measured again, so that an
/// interrupted run can go on.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include <tessera/detail/stopwatch.hpp>
#include <tessera/performance/tuning.hpp>

#include "race/plan.hpp"
#include "reporters/reporter.hpp"

namespace tessera::compare_app {

class Tuning {
 public:
  /// Reads the table that earlier runs wrote, if there is one. Throws IoError if it cannot be read, and InvalidArgument
  /// if the plan does not have exactly one backend, if the table is of another backend or device, or if no folder for
  /// it is known.
  Tuning(const Options& options, const RacePlan& plan);

  /// Removes the tasks of the group that need no measurement: kernels that gemm() may not choose, kernels that were
  /// hopeless on the shapes before, modes with fewer than two kernels, and modes for which the table has this shape.
  /// Returns false if no task is left or the time is up.
  bool wants(Group& group);
  /// Adds the fastest passing kernel of each mode to the table and writes the table.
  void add(const std::vector<Result>& group);
  /// Returns how many products were measured and kept, and how many shapes are left.
  std::string summary() const;

 private:
  using Kernel = std::tuple<std::string, DType, Math>;

  bool known(const Group& group, Math math) const;

  std::filesystem::path path_;
  double budget_;
  measure::HostStopwatch watch_;
  TuningTable table_;
  std::map<Kernel, int> far_slower_; ///< number of shapes in a row on which the kernel was hopeless
  int added_ = 0;
  int left_ = 0; ///< groups for which no time was left
};

/// Returns the grid of shapes: m and n from 1 to 4096, k from 16 to 65536, a factor of four apart, without the largest
/// products.
std::vector<GemmShape> tuning_shapes();

/// Returns a reporter that hands every group to `tuning`, which prints one line for each product.
std::unique_ptr<Reporter> tuning_reporter(Tuning& tuning);

} // namespace tessera::compare_app
