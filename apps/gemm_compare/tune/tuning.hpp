#pragma once

/// gemm_compare tune: races the kernels of one backend over a grid of shapes and keeps the fastest of each that passed
/// its check, for gemm() to choose by. What was kept is not measured again, so that an interrupted run goes on.

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include <tessera/tuning.hpp>

#include "race/plan.hpp"
#include "reporters/reporter.hpp"

namespace tessera::compare_app {

class Tuning {
 public:
  /// Reads the table so far. Throws IoError if it cannot be read, or is another device's.
  Tuning(const Options& options, const Plan& plan);

  /// False if nothing of this group is left to measure, or the time is up. Takes kernels from it that gemm() may not
  /// choose, and those that have been far behind on the shapes before.
  bool wants(Group& group);
  /// Keeps the fastest row of each mode.
  void add(const std::vector<Result>& group);
  /// What the user should know at the end.
  std::string summary() const;

 private:
  using Kernel = std::tuple<std::string, DType, Math>;

  bool known(const Group& group, Math math) const;

  std::filesystem::path path_;
  double budget_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  TuningTable table_;
  std::map<Kernel, int> far_behind_; ///< shapes in a row
  int added_ = 0;
  int left_ = 0; ///< groups that the time did not suffice for
};

/// Shapes from 1 to 4096 rows and columns and up to 65536 k, a factor of four apart, without the largest products.
std::vector<Shape> tuning_shapes();

/// Hands every group to the tuning. Prints a line a product.
std::unique_ptr<Reporter> tuning_reporter(Tuning& tuning);

} // namespace tessera::compare_app
