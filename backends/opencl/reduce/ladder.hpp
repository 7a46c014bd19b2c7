#pragma once

/// The ladder of reductions.

#include <array>
#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::opencl {

/// Of each element type by each operation, and the sum of squares of whole numbers.
extern const std::array<ReduceKernel, 13> canonical_reductions;

/// Every kernel, best first.
std::span<const ReduceKernel> reduce_ladder();

} // namespace tessera::opencl
