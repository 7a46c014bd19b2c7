#pragma once

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::cpu {

std::span<const ReduceKernel> reduce_ladder();

} // namespace tessera::cpu
