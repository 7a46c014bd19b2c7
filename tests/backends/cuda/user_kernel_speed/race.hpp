#pragma once

/// A race: contestants take turns, round by round, and each has a median of its times.

#include <functional>
#include <string>
#include <vector>

namespace speed {

struct Contestant {
  std::string name;
  bool ours = false;             ///< the library's, which is compared with the fastest of the others
  std::function<double()> time;  ///< does the work and returns the seconds of one piece of it
  std::function<void()> check{}; ///< throws if the last work left a wrong result
};

struct Timing {
  std::string what; ///< the loop
  std::string name; ///< the contestant
  bool ours = false;
  double median = 0;  ///< seconds
  double fastest = 0; ///< seconds
  double bytes = 0;   ///< read and written by one piece of work; 0 where that says nothing
  double ratio = 0;   ///< ours: its median over the fastest peer's median; else 0
};

/// Lets the contestants take turns. The first round warms up and is checked; it is not timed.
std::vector<Timing> race(const std::string& what, double bytes, int rounds, const std::vector<Contestant>& contestants);

} // namespace speed
