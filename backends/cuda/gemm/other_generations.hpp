#pragma once

/// The ladder of GPUs without Hopper's matrix units.

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

/// Returns gemm_ladder() with Summation::Other in place of Summation::HopperUnits: the kernels give the bits of the
/// GPU's own matrix units, in the same segments of k.
std::span<const GemmKernel> ladder_of_other_generations();

} // namespace tessera::cuda
