#include "time_summary.hpp"

#include <algorithm>
#include <numeric>

namespace tessera::measure {

TimeSummary summarize(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  const double median = samples.size() % 2 == 1 ? samples[middle] : 0.5 * (samples[middle - 1] + samples[middle]);
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  return {median, mean, samples.front(), samples.back()};
}

} // namespace tessera::measure
