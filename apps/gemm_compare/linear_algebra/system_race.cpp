#include "system_race.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "core/measure/repeat.hpp"
#include "core/measure/thread_stopwatch.hpp"
#include "report/columns/columns.hpp"
#include "residual.hpp"
#include "ways.hpp"

namespace tessera::compare_app {
namespace {

/// The size at which the time of a larger run is estimated, by the cube of the sizes' ratio.
constexpr Index size_of_estimate = 192;

struct SystemEntry : Contender {
  const Way* way = nullptr;
};

Result pending_system(const Group& group, const Task& task) {
  Result result = pending_task(group, task);
  result.operation = Operation::System;
  result.system = group.system->name;
  result.kernel = task.way->name;
  result.summary = group.system->summary;
  result.canonical = task.way->keeps_contract;
  result.sizes = 2;
  result.is_complex = group.is_complex;
  result.flops = group.system->flops(group.shape.n, group.is_complex);
  const auto n = static_cast<double>(group.shape.n);
  result.stored_bytes = result.bytes = n * n * static_cast<double>(group.number().bytes());
  return result;
}

template <class T>
class SystemRace {
 public:
  SystemRace(Bench& bench, const Group& group)
      : bench_(bench), group_(group), operation_(*group.system), data_(operation_, group.shape.n, bench.options.seed) {
    for (const Task& task : group.tasks) {
      SystemEntry entry;
      entry.task = task;
      entry.result = pending_system(group, task);
      entry.way = task.way.get();
      entries_.push_back(std::move(entry));
    }
  }

  void run() {
    std::vector<Result> board;
    for (const SystemEntry& entry : entries_) board.push_back(entry.result);
    bench_.board.begin_group(board);
    for (SystemEntry& entry : entries_) admit(entry);
    measure::take_turns(0, entries_.size(), [&](std::size_t e) {
      SystemEntry& entry = entries_[e];
      if (entry.runs == 0) return false;
      sample(entry);
      bench_.board.set(e, entry.result);
      return entry.runs > 0;
    });
    for (std::size_t e = 0; e < entries_.size(); ++e) bench_.board.set(e, entries_[e].result);
    bench_.board.end_group();
  }

 private:
  double time(const SystemEntry& entry, const SystemData<T>& data) {
    const bool changes = last_ != nullptr && last_ != entry.way;
    if (changes) std::this_thread::sleep_for(until_threads_sleep);
    last_ = entry.way;
    const double seconds = run(entry, data);
    return changes && entry.task.threads > 1 && seconds < waking_shows_below ? run(entry, data) : seconds;
  }

  double run(const SystemEntry& entry, const SystemData<T>& data) {
    work_.fill(data, entry.way->is_from_outside());
    const auto prepared = prepare(*entry.way, operation_, data, work_, *entry.task.executor, entry.task.threads);
    const measure::ThreadStopwatch processor;
    const measure::HostStopwatch watch;
    prepared->compute();
    const double seconds = watch.seconds();
    last_processor_seconds_ = processor.seconds();
    prepared->fetch();
    return seconds;
  }

  /// Returns the seconds that a run of all rows will take, from a smaller one by the cube of the sizes' ratio. A device
  /// is idle for most of a small run: its estimate comes from larger ones, as long as these keep within the limit.
  double estimate(const SystemEntry& entry) {
    constexpr Index larger = 4;
    const double limit = bench_.options.time_limit;
    const bool may_grow = limit > 0 && !entry.task.executor->capabilities().host_memory;
    for (Index n = std::min(group_.shape.n, size_of_estimate);; n *= larger) {
      const SystemData<T> small(operation_, n, bench_.options.seed);
      time(entry, small);
      const double seconds = time(entry, small);
      const auto times = [seconds](double growth) { return seconds * growth * growth * growth; };
      const double whole = times(static_cast<double>(group_.shape.n) / static_cast<double>(n));
      if (!may_grow || whole <= limit || n * larger >= group_.shape.n || times(larger) > limit) return whole;
    }
  }

  void fail(SystemEntry& entry, const Status& status) {
    entry.fail(status);
    bench_.progress.done(entry.way->name, expected_operations(bench_.options, group_.shape), 0);
  }

  void admit(SystemEntry& entry) try {
    bench_.progress.show(fmt::format("{} {} warm-up", operation_.name, entry.way->name));
    if (const std::string problem = problem_of(*entry.way, operation_, group_.number()); !problem.empty())
      return fail(entry, {StatusCode::Rejected, problem});
    double seconds = estimate(entry);
    const double limit = bench_.options.time_limit;
    if (limit > 0 && seconds > limit) {
      fail(entry, {StatusCode::Rejected,
                   fmt::format("one run takes {:.3g} s; force it with --time-limit {:.0f}, or 0 for no limit", seconds,
                               std::ceil(seconds * 1.2))});
      entry.result.verdict = Verdict::Skipped;
      entry.result.expected_seconds = seconds;
      return;
    }
    seconds = time(entry, data_);
    entry.runs = measure::runs_within(limit, seconds, bench_.options.repeat);
    const double one = expected_operations(bench_.options, group_.shape) / (bench_.options.repeat + 1);
    bench_.progress.done(entry.way->name, one * (bench_.options.repeat + 1 - entry.runs), 0);
  } catch (const Error& error) {
    fail(entry, {error.code(), error.what()});
  }

  void sample(SystemEntry& entry) try {
    bench_.progress.show(fmt::format("{} {} {}", operation_.name, entry.way->name, name_of(group_.number())));
    const double seconds = time(entry, data_);
    entry.result.samples.push_back(seconds);
    double& least = entry.result.processor_seconds;
    if (entry.task.threads == 1)
      least = std::isnan(least) ? last_processor_seconds_ : std::min(least, last_processor_seconds_);
    bench_.progress.done(entry.way->name,
                         expected_operations(bench_.options, group_.shape) / (bench_.options.repeat + 1), seconds);
    if (--entry.runs == 0) check(entry);
  } catch (const Error& error) {
    fail(entry, {error.code(), error.what()});
  }

  void check(SystemEntry& entry) {
    Result& result = entry.result;
    const measure::HostStopwatch watch;
    GemmError error = residual_of(operation_, data_, work_);
    std::vector<T> outcome = outcome_of(operation_, data_, work_);
    if (!expected_ && entry.way->keeps_contract) expected_ = outcome;
    if (expected_) error.differing_bits = differing(*expected_, outcome);
    const bool breaks = entry.way->keeps_contract && error.differing_bits > 0;
    if (breaks) result.reason = "other bits than the first entry of the contract";
    result.verdict = error.within_bound() && !breaks ? Verdict::Pass : Verdict::Wrong;
    result.error = std::move(error);
    if (!expected_) waiting_.push_back({&entry, std::move(outcome)});
    if (expected_ && !waiting_.empty()) compare_waiting();
    set_number(result, "check_seconds", watch.seconds());
    const double seconds = seconds_of(result, bench_.options.mean);
    if (!(seconds > 0)) return;
    result.gflops = result.flops / seconds * 1e-9;
    if (!entry.way->is_from_outside()) result.ceiling_percent = ceiling_percent(bench_.ceilings, result, seconds);
  }

  /// Counts the bits of entries that ended before the first one of the contract.
  void compare_waiting() {
    for (auto& [entry, outcome] : waiting_) {
      entry->result.error->differing_bits = differing(*expected_, outcome);
      bench_.board.set(static_cast<std::size_t>(entry - entries_.data()), entry->result);
    }
    waiting_.clear();
  }

  static Index differing(const std::vector<T>& x, const std::vector<T>& y) {
    Index count = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      if constexpr (is_complex<T>)
        count += differ(x[i].real(), y[i].real()) || differ(x[i].imag(), y[i].imag());
      else
        count += differ(x[i], y[i]);
    return count;
  }
  static bool differ(Part<T> x, Part<T> y) {
    using Bits = std::conditional_t<sizeof(x) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(x) != std::bit_cast<Bits>(y) && !(std::isnan(x) && std::isnan(y));
  }

  Bench& bench_;
  const Group& group_;
  const SystemOperation& operation_;
  const SystemData<T> data_;
  SystemWork<T> work_;
  std::vector<SystemEntry> entries_;
  std::optional<std::vector<T>> expected_; ///< of the contract
  std::vector<std::pair<SystemEntry*, std::vector<T>>> waiting_;
  const Way* last_ = nullptr;
  double last_processor_seconds_ = 0;
};

} // namespace

void run_systems(Bench& bench, const Group& group) {
  visit_numbers(group.number(), [&]<class T>(T) { SystemRace<T>(bench, group).run(); });
}

} // namespace tessera::compare_app
