#pragma once

/// What programs that measure a cost have in common.

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

namespace tessera::test {

/// Of one piece of work.
struct Seconds {
  double passed, processor;
};

template <class Work>
Seconds seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  work();
  const double used = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), used};
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace tessera::test
