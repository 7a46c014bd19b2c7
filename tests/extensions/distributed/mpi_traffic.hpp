#pragma once

/// Counts what this program's ranks receive, below the library: MPI's functions are the program's own, which count and
/// call PMPI. So ScaLAPACK's traffic is counted as well. They can also play an MPI that takes pointers to memory of a
/// device, or one that fails at it.

#include <cstdint>
#include <optional>

namespace tessera::test {

/// What this rank received since the last reset, in bytes.
struct MpiTraffic {
  std::uint64_t received = 0; ///< by messages and broadcasts
  std::uint64_t reduced = 0;  ///< the buffers of reductions to ranks by element
};

MpiTraffic& mpi_traffic();

/// How MPI treats memory of a device on this rank.
struct MpiOnDevices {
  std::optional<int> answer;     ///< of MPIX_Query_cuda_support(); none: MPI's own
  bool changes_messages = false; ///< a bit of each message that MPI_Isend() sends is changed
};

MpiOnDevices& mpi_on_devices();

} // namespace tessera::test
