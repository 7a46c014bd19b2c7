#pragma once

/// `gemm_compare --lens`.

#include "options/options.hpp"

namespace tessera::compare_app {

/// Looks at the kernel and prints or writes what was seen. Returns the program's exit status.
int look_through_lens(const Options& options);

} // namespace tessera::compare_app
