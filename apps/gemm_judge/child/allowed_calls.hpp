#pragma once

/// The system calls that a judged kernel may make. What is not in this table is refused.

#include <span>

#include "system_call_filter.hpp"

namespace tessera::judge {

/// Returns the table, which stays in this function. `sees_others`: there is no name space of processes, so that signals
/// and the choice of processors are held to the calling process, which runs the kernel.
std::span<const CallRow> allowed_calls(bool sees_others);

} // namespace tessera::judge
