#pragma once

/// Rows of C that are compared with a reference.

#include <cstdint>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::compare {

/// Returns `count` of the rows 0 … m−1 in ascending order, one at random from each of `count` strata of equal size; all
/// if count ≥ m.
std::vector<Index> random_rows(Index m, Index count, std::uint64_t seed);

} // namespace tessera::compare
