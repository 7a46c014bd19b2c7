#pragma once

/// Times and checks reductions: Σx² of a vector.

#include "gemm_runner.hpp"

namespace tessera::compare_app {

/// The vectors of one group in the memory of an executor, and the kernels of one backend after the other.
void run_reductions(Bench& bench, const Group& group);

} // namespace tessera::compare_app
