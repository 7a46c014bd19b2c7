#pragma once

/// Adds the errors of some elements to the errors of others.

#include <algorithm>

#include <tessera/checking/compare.hpp>

namespace tessera::compare {

/// Adds counts and sums, and takes the larger ones of the largest errors. What a comparison derives from all of its
/// elements is left out: means, norms, worst elements, and the numbers of grades.
inline void add_errors(GemmError& all, const GemmError& other) {
  all.total_abs += other.total_abs;
  all.max_abs = std::max(all.max_abs, other.max_abs);
  all.max_rel = std::max(all.max_rel, other.max_rel);
  all.componentwise = std::max(all.componentwise, other.componentwise);
  all.misplaced += other.misplaced;
  all.beyond += other.beyond;
  all.telling += other.telling;
  all.unjudged += other.unjudged;
  all.expected += other.expected;
  all.found += other.found;
  all.ulps.add(other.ulps);
}

} // namespace tessera::compare
