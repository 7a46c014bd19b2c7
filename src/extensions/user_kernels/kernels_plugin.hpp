#pragma once

/// The plug-in with the device code of a program's functors.

#include <tessera/detail/user_kernel/run_functor.hpp>

namespace tessera::detail {

/// Finds the functor of a run in the plug-in of its program, which is loaded at the first call. Throws
/// BackendUnavailable, which says whether the plug-in is missing, cannot be used, lacks the functor, or was compiled
/// with another functor of this name; OutOfMemory and std::bad_alloc.
struct FoundKernel {
  const KernelTable* table;
  const KernelEntry* entry;
};
FoundKernel find_kernel(const KernelRun& run, std::size_t value_size);

/// Returns the table that an entry belongs to.
const KernelTable& table_of(const KernelEntry& entry);

} // namespace tessera::detail
