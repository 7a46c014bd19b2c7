#pragma once

#include <memory>

#include <tessera/detail/distributed.hpp>

#include "mpi/communicator.hpp"

namespace tessera::distributed {

/// Duplicates the caller's communicator by the plug-in for the MPI library that the process has loaded. Throws
/// BackendUnavailable where the process has no MPI, more than one, or one without a plug-in.
std::unique_ptr<Communicator> open_communicator(detail::MpiHandle comm, double time_limit);

/// Returns "openmpi" or "mpich", whichever the process has loaded. Throws BackendUnavailable.
std::string_view loaded_mpi();

} // namespace tessera::distributed
