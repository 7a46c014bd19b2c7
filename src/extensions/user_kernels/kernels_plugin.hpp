#pragma once

/// The plug-in with the device code of a program's functors.

#include <tessera/detail/user_kernel/run_functor.hpp>

namespace tessera::detail {

/// Finds the functor of a run in the plug-in of its program that is for CUDA, which is loaded at the first call. Throws
/// BackendUnavailable, which says whether the plug-in is missing, cannot be used, lacks the functor, or was compiled
/// with another functor of this name; OutOfMemory and std::bad_alloc. `value_size` is 0 where there is no value.
const KernelEntry& find_kernel(const KernelRun& run, std::size_t value_size);
/// Finds the functor in the plug-in that has SPIR-V.
struct FoundSpirv {
  const SpirvTable* table;
  const SpirvFunctor* functor;
};
FoundSpirv find_spirv(const KernelRun& run, std::size_t value_size);

/// Returns the table that an entry belongs to.
const KernelTable& table_of(const KernelEntry& entry);

/// Throws BackendUnavailable with the functor's name and the backend's.
[[noreturn]] void unavailable(const KernelRun& run, const std::string& why);

} // namespace tessera::detail
