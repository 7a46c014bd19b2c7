#pragma once

/// The system calls that a judged kernel may make. What is not in this table is refused.

#include <span>

#include "system_call_filter.hpp"

namespace tessera::judge {

/// Returns the table, which stays in this function. `sees_others`: there is no name space of processes, so that signals
/// and the choice of processors are held to the calling process, which runs the kernel. `is_bound`: a choice of
/// processors has no effect. It is no error, because pools of threads choose theirs, and some end where they cannot.
std::span<const CallRow> allowed_calls(bool sees_others, bool is_bound);

} // namespace tessera::judge
