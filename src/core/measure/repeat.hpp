#pragma once

/// Describes how often work is repeated, and in which order: warm-up, budgets, samples, turns.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <tessera/detail/stopwatch.hpp>

namespace tessera::measure {

/// Runs `work()` at least once, and again until `budget` seconds have passed on the host.
template <class Work>
void warm_up(double budget, Work&& work) {
  const HostStopwatch watch;
  do work();
  while (watch.seconds() < budget);
}

/// Returns how many runs of `seconds` each take at most `budget` seconds together: 1 to `most`. A budget or seconds of
/// 0 or less set no limit.
inline int runs_within(double budget, double seconds, int most) {
  if (budget <= 0 || seconds <= 0) return most;
  return static_cast<int>(std::clamp(budget / seconds, 1.0, static_cast<double>(std::max(most, 1))));
}

/// Returns how many calls of `seconds` each make a sample of about `sample_seconds`: at least 1.
inline long calls_per_sample(double sample_seconds, double seconds) {
  return std::max(1L, std::lround(sample_seconds / std::max(seconds, 1e-8)));
}

/// Returns the host's seconds for one of `calls` calls of `work()` in a row, on average.
template <class Work>
double host_seconds_per_call(long calls, Work&& work) {
  return host_seconds([&] {
           for (long i = 0; i < calls; ++i) work();
         }) /
         static_cast<double>(calls);
}

/// Times `runs` runs of `work(run)` one by one and appends the seconds of each to `samples`; stops at the first
/// failure.
template <class Work>
Status sample(Stopwatch& watch, int runs, std::vector<double>& samples, Work&& work) {
  for (int run = 0; run < runs; ++run) {
    if (Status status = watch.time([&] { return work(run); }); !status.ok()) return status;
    samples.push_back(watch.seconds());
  }
  return {};
}

/// Times a few rows of a large product: `run()` computes the first `rows` rows. After each run the function takes eight
/// times as many rows, up to `most`, until a run takes `enough` seconds: a short run says little of a kernel that packs
/// all of B before the first row. Afterwards `rows` and the stopwatch's seconds are of the last run.
template <class Run>
Status time_growing_rows(Stopwatch& watch, Index& rows, Index most, double enough, Run&& run) {
  for (;; rows = std::min(most, 8 * rows)) {
    if (Status status = watch.time(run); !status.ok()) return status;
    if (rows >= most || watch.seconds() >= enough) return {};
  }
}

/// Lets the competitors from `first` to before `last` take turns, so that a disturbance of the machine does not hit one
/// of them alone. `turn(i)` returns whether competitor i wants another turn. As long as one of them does, all are asked
/// again.
template <class Turn>
void take_turns(std::size_t first, std::size_t last, Turn&& turn) {
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = first; i < last; ++i) any |= turn(i);
  }
}

/// Calls `turn(i)` once for each of `count` competitors. Each round begins with another competitor, so that what one
/// leaves behind (caches, clock) hits all of them.
template <class Turn>
void take_rotated_turns(int round, std::size_t count, Turn&& turn) {
  for (std::size_t place = 0; place < count; ++place) turn((place + static_cast<std::size_t>(round)) % count);
}

} // namespace tessera::measure
