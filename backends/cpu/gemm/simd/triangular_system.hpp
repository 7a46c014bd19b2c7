#pragma once

/// Triangular systems by the micro-kernel. include/tessera/backend/triangular_system.hpp has what is computed.

#include <tessera/backend/triangular_system.hpp>

#include "cpu/executor.hpp"

namespace tessera::cpu {

/// Solves the system. Returns Rejected where products are faster, and OutOfMemory where there is no memory for the
/// packed operands; the lines are unchanged then.
Status triangular_system(CpuExecutor& cpu, const TriangularSystemCall& call) noexcept;

} // namespace tessera::cpu
