#pragma once

/// A filter of system calls (seccomp), which the judged kernel cannot take off.

namespace tessera::judge {

/// Refuses the system calls that reach other processes' memory, make name spaces, sockets, mounts or timers, change the
/// machine's clock, or go around this filter. `guard_processes`: also refuse signals to all processes but this one and
/// its group. Returns whether the filter is in force. The process must have no_new_privs.
bool filter_system_calls(bool guard_processes);

} // namespace tessera::judge
