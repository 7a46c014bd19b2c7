#pragma once

/// What the worker takes from itself before it opens a judged kernel: rights over files, over other processes, over the
/// network, and over its own clock and limits. Sources: landlock(7), seccomp(2).

#include <cstdint>
#include <string>

namespace tessera::judge {

/// Gives up every capability and the right to get new ones, all writing of files outside of `scratch` (empty: none is
/// allowed), reading of devices, and every system call that allowed_calls.hpp does not name. `library`: the judged
/// file, whose folder stays readable wherever it is. `layers`: the Layer bits so far. `without`: Layer bits that are
/// left out, for tests. `is_bound`: the parent chooses the processors. Without a name space of processes the process
/// becomes the first of a session of its own. Returns all Layer bits. Everything stays in force over fork and exec.
std::uint32_t enter_sandbox(std::uint32_t layers, std::uint32_t without, const std::string& scratch,
                            const std::string& library, bool is_bound);

} // namespace tessera::judge
