#pragma once

/// Measures what the processor can do at this moment: multiply-adds in registers and nothing else. The clock drifts by
/// a quarter within minutes, so that only ratios within a round mean much.

#include <tessera/types.hpp>

namespace tessera::bench {

inline constexpr const char* probe_name = "fma-probe";

/// Returns the floating-point operations per second of `threads` threads together, over some milliseconds; 0 if it
/// could not be measured.
double probe_flops(DType type, int threads);

} // namespace tessera::bench
