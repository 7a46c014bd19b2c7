#pragma once

/// Times and checks reductions: Σx² of a vector.

#include "gemm_runner.hpp"

namespace tessera::compare_app {

/// Runs the kernels of one group, one backend after the other, on vectors in the backend's memory.
void run_reductions(Bench& bench, const Group& group);

} // namespace tessera::compare_app
