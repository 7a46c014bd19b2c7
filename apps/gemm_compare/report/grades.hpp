#pragma once

/// Grades put together: kernels whose errors agree at every size sum in the same order, and are told as one.

#include <string>
#include <vector>

#include "document.hpp"

namespace tessera::report {

struct GradeClass {
  Grade shown;                       ///< of the kernel that was run at the most sizes
  std::vector<const Grade*> kernels; ///< all of them, in the document's order

  /// "openmp simd, simd_packed; tbb simd": backends in the document's order.
  std::string names(const Run& run) const;
  /// "simd", "simd and 12 more".
  std::string short_name(const Run& run) const;
  /// The backend of all kernels; empty if they are of several.
  std::string backend() const;
};

/// By type and mode, the most accurate first; within each in the document's order.
std::vector<GradeClass> grade_classes(const Run& run);

} // namespace tessera::report
