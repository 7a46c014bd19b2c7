#pragma once

/// Counts what this program's ranks receive, below the library: MPI's functions are the program's own, which count and
/// call PMPI. So ScaLAPACK's traffic is counted as well.

#include <cstdint>

namespace tessera::test {

/// What this rank received since the last reset, in bytes.
struct MpiTraffic {
  std::uint64_t received = 0; ///< by messages and broadcasts
  std::uint64_t reduced = 0;  ///< the buffers of reductions to ranks by element
};

MpiTraffic& mpi_traffic();

} // namespace tessera::test
