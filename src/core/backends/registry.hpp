#pragma once

#include <tessera/backend_list.hpp>
#include <tessera/executor.hpp>

namespace tessera {

/// Returns the backend with the largest value that this process knows; all values from 1 to it are backends.
Backend last_backend() noexcept;

/// Returns the executor of a backend that is not Auto, and throws what executor() throws, but does not take it for a
/// choice of the program.
Executor& named_executor(Backend backend);

/// Returns the executor of the first backend in host memory that the program named; null while it has named none. From
/// then on it serves what Auto leaves on the host, so that a program does not wake a second runtime's threads. The
/// reference has no threads and is no such choice, nor is a backend that Auto never takes.
Executor* first_named_on_host() noexcept;

/// Returns the executor that Auto prefers among those whose memory is of this kind; null if none is available. Sets
/// `settled` unless a plug-in lacked memory, which it may have later. Throws InvalidArgument where the environment has
/// no valid number of threads, OutOfMemory and std::bad_alloc.
Executor* preferred_executor(Memory memory, bool& settled);

/// Is this the executor of a device that the parent of this process used before it forked?
bool is_lost(const Executor& executor) noexcept;

} // namespace tessera
