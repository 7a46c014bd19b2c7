#pragma once

#include <memory>

#include <tessera/detail/distributed.hpp>

#include "mpi/communicator.hpp"
#include "scalapack/scalapack.hpp"

namespace tessera::distributed {

/// Duplicates the caller's communicator by the plug-in for the MPI library that the process has loaded. Throws
/// BackendUnavailable where the process has no MPI, more than one, or one without a plug-in.
std::unique_ptr<Communicator> open_communicator(detail::MpiHandle comm, double time_limit);

/// Returns the plug-in for the MPI library that the process has loaded. Throws BackendUnavailable.
const MpiPluginInfo& mpi_of_process();

/// Returns the plug-in for the MPI whose mpirun started the process. Throws BackendUnavailable.
const MpiPluginInfo& mpi_of_this_start();

/// Returns the plug-in with the ScaLAPACK for that MPI. Throws BackendUnavailable where there is none.
const ScalapackInfo& load_scalapack();

} // namespace tessera::distributed
