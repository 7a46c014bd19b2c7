#pragma once

/// The products that every kernel of every ladder has to get right.

#include <ostream>
#include <vector>

#include <tessera/backend/kernel.hpp>

#include "guarded.hpp"

namespace tessera::conformance {

/// The numbers that A, B and C are filled with.
enum class Values {
  Uniform,   ///< [−1, 1)
  Integers,  ///< small enough that every mode is exact: any difference is a bug
  Subnormal, ///< elements of A are below the smallest normal number, so that flushing to zero is found out
  NonFinite, ///< a few NaN and infinities, which must land where IEEE arithmetic puts them
};

struct Case {
  Index m = 0, n = 0, k = 0;
  Op op_a = Op::None, op_b = Op::None;
  double alpha = 1, beta = 0; ///< exact in f32
  Placement a = {}, b = {}, c = {};
  int threads = 0;
  Values values = Values::Uniform;
};

std::ostream& operator<<(std::ostream& out, const Case& x);

/// Returns the cases that do not depend on the kernel: all small shapes, primes, long and thin shapes, segments of the
/// contract, every pair of transposes and of alpha and beta, integers, subnormal numbers, NaN and infinities. `quick`
/// leaves most of them out. The function keeps each `every`-th case.
std::vector<Case> shared_cases(bool quick, std::size_t every);

/// Returns cases whose sizes are one less than, equal to and one more than a kernel's tile along each side. Tiles
/// beyond 256 stand for the least sizes of a recursion; of these only one case has sizes that are less.
std::vector<Case> tile_cases(const Tile& tile, bool quick, std::size_t every);

} // namespace tessera::conformance
