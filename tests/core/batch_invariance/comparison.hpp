#pragma once

/// One comparison of the campaign: some rows of a product alone, and the same rows beside others.

#include <cstdint>
#include <random>

#include <tessera/types.hpp>

#include "backends/conformance/guarded.hpp"

namespace tessera::batch_invariance {

using conformance::Placement;
using Random = std::mt19937_64;

/// What the sizes are drawn from.
struct Limits {
  Index largest = 8192;     ///< of m, n and k
  double work = 0x1p24;     ///< multiply-adds of the product
  double elements = 0x1p22; ///< of A, B and C together
};

/// How a product lies in memory.
struct Layout {
  Op op_a = Op::None, op_b = Op::None;
  Placement a, b, c;
};

/// What is compared. Every number follows from `seed`, so that a comparison can be run again.
struct Comparison {
  std::uint64_t seed = 0;
  Index m = 1, n = 1, k = 1;
  Index rows = 1, first = 0; ///< the rows of C that are computed alone
  double alpha = 1, beta = 0;
  bool special = false;  ///< the other rows of A hold NaN, Inf and large numbers too
  bool in_batch = false; ///< the other rows are products of a batch, of `rows` rows each
  Layout together, alone;

  /// Draws a comparison.
  Comparison(std::uint64_t seed, const Limits& limits);

  /// Returns element (i, p) of op(A), (p, j) of op(B), or (i, j) of the C that was there before.
  float a(Index i, Index p) const;
  float b(Index p, Index j) const;
  float c(Index i, Index j) const;
};

} // namespace tessera::batch_invariance
