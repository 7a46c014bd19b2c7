#pragma once

/// Grades kernels that were run at several square sizes by how their error grows; see docs/error_bounds.md.

#include <vector>

#include <tessera/checking/grade.hpp>

#include "race/result.hpp"

namespace tessera::compare_app {

struct GradedKernel {
  Result last; ///< the result at the size that was run last, which says which kernel this is
  std::vector<SizeErrors> sizes;
  Grading grading;
};

/// Collects the errors that a run measured, kernel by kernel, in the order in which kernels first appear.
class GradeBook {
 public:
  void add(const std::vector<Result>& group);
  /// Returns the kernels with at least `least_sizes` different sizes, each with its grade.
  std::vector<GradedKernel> grades() const;

 private:
  std::vector<GradedKernel> kernels_;
};

} // namespace tessera::compare_app
