#pragma once

/// The ceilings of every backend that exists here. gemm_compare's percentages are relative to them.

#include <vector>

#include <tessera/backend.hpp>

#include "common/ceilings.hpp"

namespace tessera::info_app {

/// Returns ceilings in f32 and f64: of the processor for one thread and for all threads, of a device also for its
/// reduced modes.
std::vector<apps::CeilingEntry> find_ceilings(const std::vector<Backend>& backends, bool measure);

void print_ceilings(const std::vector<apps::CeilingEntry>& entries);

} // namespace tessera::info_app
