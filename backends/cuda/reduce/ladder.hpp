#pragma once

/// The reductions, best first. Each rung is the file of its name.

#include <span>

#include <tessera/kernel.hpp>

namespace tessera::cuda {

std::span<const ReduceKernel> reduce_ladder();

} // namespace tessera::cuda
