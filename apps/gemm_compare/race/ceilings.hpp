#pragma once

/// Compares times with the limits of the machine.

#include <tessera/backend/kernel.hpp>

#include "common/ceilings.hpp"
#include "result.hpp"

namespace tessera::compare_app {

/// Returns the percentage of the ceiling that a result reaches in `seconds`. The ceiling is the multiply-add peak, or
/// the bandwidth of the nearest cache that holds all operands (or of memory) where moving each operand once takes
/// longer. NaN where the backend measures nothing. If a result is above its ceiling, something disturbed the
/// measurement of the ceiling, which is repeated.
double ceiling_percent(apps::CeilingTable& ceilings, const Result& result, double seconds);

/// Returns the measured bandwidth, in GB/s, of the nearest cache that holds all operands, or of memory. NaN where the
/// backend measures nothing.
double bandwidth_ceiling(apps::CeilingTable& ceilings, const Result& result);

/// Returns the seconds that the work `traffic` takes at the ceilings of this result: its operations at the multiply-add
/// peak or its bytes at the bandwidth of the nearest cache that holds all operands (or of memory), whichever takes
/// longer. NaN where the backend does not measure both. Source: Williams' roofline model.
double model_seconds(apps::CeilingTable& ceilings, const Result& result, const GemmTraffic& traffic);

} // namespace tessera::compare_app
