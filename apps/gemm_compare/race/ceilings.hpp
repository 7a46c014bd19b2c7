#pragma once

/// How far from the machine's limit.

#include "common/ceilings.hpp"
#include "result.hpp"

namespace tessera::compare_app {

/// Percent of what the machine could reach on this result's shape: the multiply-add peak, or the bandwidth of the
/// nearest cache that holds all operands (or of memory) where moving each of them once takes longer. NaN where the
/// backend measures nothing. A result above its ceiling has it measured once more: the ceiling was disturbed.
double ceiling_percent(apps::CeilingTable& ceilings, const Result& result, double seconds);

} // namespace tessera::compare_app
