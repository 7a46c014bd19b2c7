#include "half_bound.hpp"

#include <sstream>

#include <tessera/checking/compare.hpp>

namespace tessera::conformance {

std::string outside_bound(const GemmKernel& row, const GemmCall& call, const void* c, Index ldc, bool whole_numbers) {
  const GemmReference exact(call);
  const GemmError error = exact.compare(c, ldc, Arithmetic::of(row), 1);
  std::ostringstream wrong;
  if (!error.within_bound())
    wrong << "element (" << error.worst_row << ", " << error.worst_col << ") is off by " << error.max_over_bound
          << " times its bound; " << error.misplaced << " are misplaced. ";
  // Sums of whole numbers are exact, and are rounded once, as the exact result is.
  if (whole_numbers && error.total_abs != 0) wrong << "whole numbers are off by " << error.total_abs;
  return wrong.str();
}

} // namespace tessera::conformance
