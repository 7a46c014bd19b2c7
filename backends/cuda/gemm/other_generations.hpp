#pragma once

/// The ladder of cards without Hopper's matrix units.

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

/// Returns gemm_ladder() with Summation::Other in place of Summation::HopperUnits: the rows give the bits of the card's
/// own units, in the same segments of k.
std::span<const GemmKernel> ladder_of_other_generations();

} // namespace tessera::cuda
