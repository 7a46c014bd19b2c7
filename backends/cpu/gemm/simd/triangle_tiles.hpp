#pragma once

/// Triangles and the lines that they meet, by the micro-kernel. include/tessera/backend/triangle_tiles.hpp has what is
/// computed.

#include <tessera/backend/triangle_tiles.hpp>

#include "cpu/executor.hpp"

namespace tessera::cpu {

/// Computes the call. Returns Rejected where products are faster, and OutOfMemory where there is no memory for the
/// packed operands; the lines are unchanged then.
Status triangle_in_tiles(CpuExecutor& cpu, const TriangleTilesCall& call) noexcept;

} // namespace tessera::cpu
