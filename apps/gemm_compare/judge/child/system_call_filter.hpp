#pragma once

/// A filter of system calls (seccomp), which the judged kernel cannot take off.

#include <array>

#include <sys/types.h>

namespace tessera::judge {

/// Refuses the system calls that reach other processes' memory, make name spaces, sockets, mounts or timers, change the
/// machine's clock, or go around this filter. `guard_processes`: also refuse signals to `protected_processes`, to their
/// groups and to all processes. Returns whether the filter is in force. The process must have no_new_privs.
bool filter_system_calls(bool guard_processes, const std::array<pid_t, 2>& protected_processes);

} // namespace tessera::judge
