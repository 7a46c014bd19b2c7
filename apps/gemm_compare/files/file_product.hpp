#pragma once

#include "options/options.hpp"

namespace tessera::compare_app {

/// Computes the product of --a and --b into --out within --memory-limit, with the executors that the options name, and
/// prints what was read and written beside the formula. Throws what gemm_files() throws.
void multiply_files(const Options& options);

} // namespace tessera::compare_app
