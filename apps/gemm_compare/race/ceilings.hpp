#pragma once

/// How far from the machine's limit.

#include <tessera/backend/kernel.hpp>

#include "common/ceilings.hpp"
#include "result.hpp"

namespace tessera::compare_app {

/// Percent of what the machine could reach on this result's shape: the multiply-add peak, or the bandwidth of the
/// nearest cache that holds all operands (or of memory) where moving each of them once takes longer. NaN where the
/// backend measures nothing. A result above its ceiling has it measured once more: the ceiling was disturbed.
double ceiling_percent(apps::CeilingTable& ceilings, const Result& result, double seconds);

/// Seconds that the count `traffic` of this result's work takes at the ceilings, after Williams' roofline model: the
/// longer one of its operations at the multiply-add peak and its bytes at the bandwidth of the nearest cache that holds
/// all operands (or of memory). NaN where the backend measures either not.
double model_seconds(apps::CeilingTable& ceilings, const Result& result, const GemmTraffic& traffic);

} // namespace tessera::compare_app
