#pragma once

/// The summary of repeated timings.

#include <limits>
#include <vector>

namespace tessera::measure {

/// All are NaN where there are no samples.
struct TimeSummary {
  double median = std::numeric_limits<double>::quiet_NaN(); ///< of an even number, the mean of the middle two
  double mean = std::numeric_limits<double>::quiet_NaN();
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
};
TimeSummary summarize(std::vector<double> samples);

} // namespace tessera::measure
