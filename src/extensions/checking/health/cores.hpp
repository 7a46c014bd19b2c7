#pragma once

/// The cores that the process may use, and threads that stay on one of them.

#include <functional>
#include <vector>

namespace tessera::health_check {

/// Returns the numbers of the processors that the calling thread may use; none if the system does not tell.
std::vector<int> usable_cores();

/// Work for a core. It is called in the contract's floating-point state.
using CoreWork = std::function<void(int core)>;

/// Calls work(core) on a thread that runs on this core alone, and returns when it is done. Returns false, without the
/// call, if the system does not let a thread stay there. An exception of the work is thrown again.
bool run_on_core(int core, const CoreWork& work);

/// Calls work(core) on all of the cores at once. Returns the cores on which the system did not let a thread stay.
std::vector<int> run_on_cores(const std::vector<int>& cores, const CoreWork& work);

} // namespace tessera::health_check
