#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "core/measure/time_summary.hpp"

namespace tessera::bench {

/// Returns the JSON of a peer's samples, in seconds.
inline nlohmann::ordered_json time_json(const std::vector<double>& seconds) {
  const measure::TimeSummary time = measure::summarize(seconds);
  return {{"median", time.median}, {"min", time.min}, {"max", time.max}, {"samples", seconds.size()}};
}

} // namespace tessera::bench
