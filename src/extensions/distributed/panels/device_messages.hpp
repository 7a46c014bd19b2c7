#pragma once

#include <tessera/executor.hpp>

#include "extensions/distributed/grid_state.hpp"

namespace tessera::distributed {

/// Agrees that MPI handles pointers to the memory of each rank's executor, once for each grid and executor. A rank
/// whose memory is not the host's asks MPI first, because an MPI without support for devices may end the process. Then
/// each rank broadcasts known bytes from its executor's memory along its process row and column, and the other ranks
/// compare what arrived in theirs. All ranks call it. Every rank gets Unavailable, with the reason, if one of them
/// cannot.
Status check_device_messages(tessera::detail::GridState& grid, Executor& executor) noexcept;

} // namespace tessera::distributed
