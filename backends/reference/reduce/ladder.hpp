#pragma once

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::reference {

std::span<const ReduceKernel> reduce_ladder();

} // namespace tessera::reference
