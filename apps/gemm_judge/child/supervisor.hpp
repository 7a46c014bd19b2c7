#pragma once

/// The processes of gemm_judge: the supervisor, which gemm_compare starts, and the worker, in which the kernel runs.
/// Where Linux allows it, the worker lives in name spaces of its own, together with a first process that does nothing
/// but wait for it; all processes of a name space end with its first one.

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::judge {

/// Splits this process. It returns in the worker alone, with the Layer bits of the name spaces that it lives in. The
/// supervisor ends as the worker ends, with its status or by the same signal, after all processes that the kernel left
/// have been killed. `name_spaces`: try to make them, and to put an empty folder in memory, of limited size, in the
/// place of `scratch` (empty: none) and of /dev/shm, unless a file of `needed` lies in the latter. Call it while the
/// process has one thread.
std::uint32_t become_worker(bool name_spaces, const std::string& scratch, const std::vector<std::string>& needed);

} // namespace tessera::judge
