#pragma once

/// The part of the campaign that checks honest products of every kernel, which none may be refused of.

#include <optional>

#include <tessera/types.hpp>

#include "counts.hpp"

namespace tessera::test {

/// Checks `count` random products or some more, of all kernels of the ladders of this backend, or else of all available
/// backends and of Eigen. m and n are at most `largest`. Prints what was counted for each library and mode.
Counts check_honest(std::optional<Backend> backend, Index count, Index largest, std::uint64_t seed);

} // namespace tessera::test
