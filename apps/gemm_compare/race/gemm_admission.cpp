/// Decides how often a kernel runs, and how its time is taken.

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <tessera/performance/recording.hpp>

#include "core/measure/repeat.hpp"
#include "core/measure/time_summary.hpp"
#include "gemm_entry.hpp"
#include "progress.hpp"

namespace tessera::compare_app {
namespace {

/// A product with more operations than this is tried on a few rows first.
constexpr double probe_from = 5e8;
constexpr double probe_seconds = 0.1;
/// Runs estimated at less than this are warmed up with a whole run.
constexpr double warm_up_below = 0.5;
/// A shape with a kernel faster than this is timed by replays under --timing auto: a launch takes some 12 µs of a call.
constexpr double launch_shows_below = 250e-6;
/// A launch does not show in the times of kernels that are slower than this.
constexpr double launch_is_nothing_from = 1e-3;
constexpr int trial_runs = 3;

} // namespace

/// Rejects or skips the kernel, or decides how often it runs.
bool GemmRunner::admit(Entry& entry) {
  const Task& task = entry.task;
  const std::string& name = entry.result.kernel;
  GemmCall call = operands_->call(0, task.gemm->math, task.threads);
  if (!is_plain_product(call) && !task.gemm->narrows)
    call.result = call.type; // the executor rounds C itself, in a separate pass
  const char* why = task.gemm->reject ? task.gemm->reject(*task.gemm, call, task.executor->capabilities()) : nullptr;
  if (why != nullptr) entry.fail({StatusCode::Rejected, why});
  const double expected = entry.active() ? estimate(entry) : 0;
  if (!entry.active()) {
    bench_.progress.done(name, entry.expected, 0);
    return false;
  }
  const double limit = bench_.options.time_limit;
  if (limit > 0 && expected > limit) {
    entry.result.verdict = Verdict::Skipped;
    entry.result.expected_seconds = expected;
    entry.result.reason =
        fmt::format("one run takes about {:.3g} s; force it with --time-limit {:.0f}, or 0 for no limit", expected,
                    std::ceil(expected * 1.2));
    entry.runs = 0;
    bench_.progress.done(name, entry.expected, 0);
    return false;
  }
  entry.runs = measure::runs_within(limit, expected, bench_.options.repeat);
  entry.seconds = expected;
  // Runs that will not take place are taken out of the progress bar.
  const double one = operations(entry.result);
  bench_.progress.done(name, entry.expected - one * entry.runs, 0);
  entry.expected = one * entry.runs;
  return true;
}

/// Records the runs of the backend's kernels in whose times a launch would show.
void GemmRunner::choose_timing(std::size_t first, std::size_t last) {
  const Timing wanted = bench_.options.timing;
  Executor& executor = *entries_[first].task.executor;
  if (wanted == Timing::Events || (wanted == Timing::Auto && !records(executor.default_queue()))) return;
  double fastest = launch_shows_below;
  for (std::size_t e = first; e < last; ++e)
    if (entries_[e].runs > 0) fastest = std::min(fastest, entries_[e].seconds);
  for (std::size_t e = first; e < last; ++e) {
    Entry& entry = entries_[e];
    if (entry.runs == 0) continue;
    if (wanted == Timing::Auto && (fastest >= launch_shows_below || entry.seconds >= launch_is_nothing_from)) continue;
    const Status status = RecordedRuns::record(entry.task, *operands_, problem_.beta, entry.recorded);
    if (!status.ok()) {
      entry.result.timing_note = status.why;
      continue;
    }
    entry.result.timing = Timing::Graph;
    entry.result.runs_per_sample = entry.recorded->count();
    const int runs =
        measure::runs_within(bench_.options.time_limit, entry.seconds * entry.recorded->count(), entry.runs);
    bench_.progress.done(entry.result.kernel, operations(entry.result) * (entry.runs - runs), 0);
    entry.runs = runs;
  }
}

/// Returns the seconds that one run will take. The trial also warms the kernel up.
double GemmRunner::estimate(Entry& entry) {
  const Task& task = entry.task;
  Executor& executor = *task.executor;
  bench_.progress.show(fmt::format("{} {} warm-up", to_string(task.backend), entry.result.kernel));
  GemmCall call = operands_->call(0, task.gemm->math, task.threads);
  measure::Stopwatch watch(executor);
  const auto multiply = [&] { return executor.gemm(executor.default_queue(), call, task.gemm->name); };
  const auto run = [&] {
    if (Status status = watch.time(multiply); !status.ok()) entry.fail(status);
  };
  operands_->prepare(0, executor);
  const double total = operations(entry.result);
  if (executor.capabilities().host_memory && total > probe_from && call.m > 1) {
    const Index all = call.m;
    call.m = std::max<Index>(
        1, std::min<Index>(all / 2, static_cast<Index>(static_cast<double>(all) * probe_from / total / 8)));
    if (Status status = measure::time_growing_rows(watch, call.m, all / 2, probe_seconds, multiply); !status.ok())
      entry.fail(status);
    const double seconds = watch.seconds() * static_cast<double>(all) / static_cast<double>(call.m);
    if (!entry.active() || seconds > warm_up_below) return seconds;
    call.m = all;
  }
  run();
  if (executor.capabilities().host_memory || !entry.active()) return watch.seconds();
  run(); // the first run on a device loads the kernel, or searches a library for the best one
  if (!entry.active() || bench_.options.timing != Timing::Auto || !records(executor.default_queue()) ||
      watch.seconds() >= launch_is_nothing_from)
    return watch.seconds();
  std::vector<double> trials;
  for (int trial = 0; entry.active() && trial < trial_runs; ++trial) {
    run();
    trials.push_back(watch.seconds());
  }
  return summarize(trials).median;
}

} // namespace tessera::compare_app
