#pragma once

/// The grades of kernels that were run at several square sizes; see tessera/grade.hpp.

#include <vector>

#include <tessera/grade.hpp>

#include "race/result.hpp"

namespace tessera::compare_app {

struct GradedKernel {
  Result last; ///< at the size that was run last: says which kernel it is
  std::vector<SizeErrors> sizes;
  Grading grading;
};

/// Keeps what a run measured, in the order in which kernels first appear.
class GradeBook {
 public:
  void add(const std::vector<Result>& group);
  /// Kernels with at least `least_sizes` sizes.
  std::vector<GradedKernel> grades() const;

 private:
  std::vector<GradedKernel> kernels_;
};

} // namespace tessera::compare_app
