#pragma once

/// Times and checks an operation of --op on each backend.

#include "race/gemm_runner.hpp"

namespace tessera::compare_app {

/// The name under which the progress bar knows the entries that are as fast as this one.
std::string progress_name(const Task& task, const Group& group);

/// Runs the operation of a group at its sizes, on the same data on each backend. The entries take turns across the
/// backends, and the output of each entry's last timed run is compared with the reference backend's.
void run_operation(Bench& bench, const Group& group);

} // namespace tessera::compare_app
