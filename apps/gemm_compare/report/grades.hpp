#pragma once

/// Groups kernels by their errors: kernels whose errors agree at every size sum in the same order and share one line.

#include <string>
#include <vector>

#include "document.hpp"

namespace tessera::report {

struct GradeClass {
  Grade shown;                       ///< the grade of the kernel that was run at the most sizes
  std::vector<const Grade*> kernels; ///< all of them, in the document's order

  /// All kernels, "openmp simd, simd_packed; tbb simd", with backends in the document's order.
  std::string names(const Run& run) const;
  /// The first kernel and the number of others: "simd", "simd and 12 more".
  std::string short_name(const Run& run) const;
  /// The backend of all kernels; empty if they belong to several backends.
  std::string backend() const;
};

/// The classes of a run, sorted by type and mode with the most accurate first, and then in the document's order.
std::vector<GradeClass> grade_classes(const Run& run);

} // namespace tessera::report
