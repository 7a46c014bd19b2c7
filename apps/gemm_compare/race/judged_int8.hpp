#pragma once

/// Judges kernels on int8 operands, whose product is int32.

#include "gemm_runner.hpp"

namespace tessera::compare_app {

/// Runs every kernel of --kernel on int8 operands of the group's shape. No kernel of a ladder multiplies them, so that
/// the judge's own exact check alone says whether a result is right.
void run_int8_products(Bench& bench, const Group& group);

} // namespace tessera::compare_app
