#pragma once

#include <tessera/backend_list.hpp>
#include <tessera/executor.hpp>

namespace tessera {

/// Returns the backend with the largest value that this process knows; all values from 1 to it are backends.
Backend last_backend() noexcept;

/// Returns the executor that Auto prefers among those whose memory is of this kind; null if none is available. Sets
/// `settled` unless a plug-in lacked memory, which it may have later. Throws InvalidArgument where the environment has
/// no valid number of threads, OutOfMemory and std::bad_alloc.
Executor* preferred_executor(Memory memory, bool& settled);

/// Is this the executor of a device that the parent of this process used before it forked?
bool is_lost(const Executor& executor) noexcept;

} // namespace tessera
