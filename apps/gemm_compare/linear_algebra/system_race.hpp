#pragma once

/// Times and checks the ways of an operation of linear algebra.

#include "race/gemm_runner.hpp"

namespace tessera::compare_app {

/// Runs the operation of a group. Its ways take turns, each run on a fresh copy of the data, which is not timed. The
/// results of each way's last run are checked.
void run_systems(Bench& bench, const Group& group);

} // namespace tessera::compare_app
