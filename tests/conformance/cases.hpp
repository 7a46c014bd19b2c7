#pragma once

/// The products that every row of every ladder has to get right.

#include <ostream>
#include <vector>

#include <tessera/kernel.hpp>

#include "guarded.hpp"

namespace tessera::conformance {

struct Case {
  Index m = 0, n = 0, k = 0;
  Op op_a = Op::None, op_b = Op::None;
  double alpha = 1, beta = 0; ///< exact in f32
  Placement a = {}, b = {}, c = {};
  int threads = 0;
};

std::ostream& operator<<(std::ostream& out, const Case& x);

/// Cases that do not depend on the row: all small shapes, primes, long and thin, segments of the canonical
/// summation; every pair of transposes and of alpha and beta.
std::vector<Case> shared_cases(bool quick);

/// One less, equal and one more than a row's tile along each side.
std::vector<Case> tile_cases(const Tile& tile, bool quick);

} // namespace tessera::conformance
