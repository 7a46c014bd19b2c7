#include "race.hpp"

#include <algorithm>
#include <limits>

namespace speed {

std::vector<Timing> race(const std::string& what, double bytes, int rounds,
                         const std::vector<Contestant>& contestants) {
  const std::size_t count = contestants.size();
  std::vector<std::vector<double>> seconds(count);
  for (int round = 0; round <= rounds; ++round)
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t who = (turn + static_cast<std::size_t>(round)) % count; // no one always follows the same one
      const double time = contestants[who].time();
      if (round > 0)
        seconds[who].push_back(time);
      else if (contestants[who].check)
        contestants[who].check();
    }
  std::vector<Timing> timings;
  double best_peer = std::numeric_limits<double>::infinity();
  for (std::size_t who = 0; who < count; ++who) {
    std::vector<double>& times = seconds[who];
    std::sort(times.begin(), times.end());
    timings.push_back(
        {what, contestants[who].name, contestants[who].ours, times[times.size() / 2], times.front(), bytes, 0});
    if (!contestants[who].ours) best_peer = std::min(best_peer, timings.back().median);
  }
  for (Timing& timing : timings)
    if (timing.ours) timing.ratio = timing.median / best_peer;
  return timings;
}

} // namespace speed
