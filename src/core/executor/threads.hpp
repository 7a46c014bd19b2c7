#pragma once

#include <tessera/detail/export.hpp>

namespace tessera::detail {

/// From now on default_threads() passes over a variable that holds no number of threads, after one warning on stderr.
/// The BLAS drop-in calls this: its callers cannot catch an exception, and OMP_NUM_THREADS was not set for Tessera.
TESSERA_API void pass_over_wrong_thread_variables() noexcept;

} // namespace tessera::detail
