#pragma once

/// The ceilings of every backend that is there: what gemm_compare takes its percentages of.

#include <vector>

#include <tessera/backend.hpp>

#include "common/ceilings.hpp"

namespace tessera::info_app {

/// One thread and all of them, f32 and f64; of a device also its reduced modes.
std::vector<apps::CeilingRow> find_ceilings(const std::vector<Backend>& backends, bool measure);

void print_ceilings(const std::vector<apps::CeilingRow>& rows);

} // namespace tessera::info_app
