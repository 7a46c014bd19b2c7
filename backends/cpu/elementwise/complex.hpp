#pragma once

/// The element-wise operations on complex numbers, see MapOp.

#include <tessera/executor.hpp>

#include "cpu/team.hpp"

namespace tessera::cpu {

Status map_complex(const MapCall& call, Team& team, int threads) noexcept;

} // namespace tessera::cpu
