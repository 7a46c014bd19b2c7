#include "operation_runner.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <thread>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/detail/printable.hpp>
#include <tessera/status.hpp>

#include "catalogue.hpp"
#include "common/machine.hpp"
#include "comparison.hpp"
#include "core/measure/repeat.hpp"
#include "report/columns/columns.hpp"

namespace tessera::compare_app {
namespace {

constexpr std::size_t rotation_bytes = std::size_t{1} << 30;

/// One entry of the race.
struct Entry : Contender {
  double seconds = 0; ///< of one run, as the warm-up took
};

Result pending(const Group& group, const Task& task) {
  const OperationEntry& entry = *group.operation;
  const OperationSizes sizes = sizes_of(group.shape);
  Result result = pending_task(group, task);
  result.operation = Operation::User;
  result.kernel = entry.name;
  result.summary = entry.summary;
  result.canonical = entry.ulps == 0;
  result.sizes = entry.sizes;
  result.flops = flops_of(entry, sizes);
  return result;
}

class OperationRace {
 public:
  OperationRace(Bench& bench, const Group& group)
      : bench_(bench), group_(group), entry_(*group.operation), sizes_(sizes_of(group.shape)) {
    for (const Task& task : group.tasks) entries_.push_back({{task, pending(group, task)}});
  }

  void run() {
    std::vector<Result> board;
    for (const Entry& entry : entries_) board.push_back(entry.result);
    bench_.board.begin_group(board);
    if (const char* why = entry_.reject != nullptr ? entry_.reject(sizes_) : nullptr)
      for (Entry& entry : entries_) fail(entry, {StatusCode::Rejected, why});
    else
      race();
    for (std::size_t e = 0; e < entries_.size(); ++e) bench_.board.set(e, entries_[e].result);
    bench_.board.end_group();
  }

 private:
  void race() {
    const OperationBytes bytes = bytes_of(entry_, sizes_);
    for (Entry& entry : entries_) {
      entry.result.bytes = bytes.moved;
      entry.result.stored_bytes = bytes.stored;
    }
    host_.emplace(OperationArrays::on_host(entry_, sizes_, bench_.options, sets(bytes.stored)));
    if (const Status status = run_reference(); !status.ok()) {
      for (Entry& entry : entries_) fail(entry, {status.code, "on the reference backend: " + status.why});
      return;
    }
    for (Entry& entry : entries_) admit(entry);
    measure::take_turns(0, entries_.size(), [&](std::size_t e) {
      Entry& entry = entries_[e];
      if (entry.runs == 0) return false;
      sample(entry);
      if (entry.runs == 0 && entry.active()) check(entry);
      bench_.board.set(e, entry.result);
      return entry.runs > 0;
    });
  }

  /// Returns the number of sets that together are larger than every cache that takes part.
  std::size_t sets(double set_bytes) const {
    std::size_t cache = 0;
    for (const Task& task : group_.tasks) {
      const Capabilities& machine = task.executor->capabilities();
      cache = std::max(cache, machine.host_memory ? apps::last_level_cache_bytes() : machine.l2_bytes);
    }
    const std::size_t memory = std::min(rotation_bytes, apps::available_memory_bytes() / 4);
    return sets_to_rotate(static_cast<std::size_t>(std::min(set_bytes, 0x1p62)), cache, memory);
  }

  /// Runs the first set on the reference backend, whose results all others are compared with.
  Status run_reference() {
    bench_.progress.show(fmt::format("{}: reference", entry_.name));
    Executor& reference = executor(Backend::Reference);
    throw_if_failed(host_->enqueue_preparation(0, reference, blank_of_reference));
    OperationValue value;
    if (Status status = launch(reference, *host_, 0, 1, value); !status.ok()) return status;
    expected_ = OperationResults::of(*host_, 0, reference, value);
    return {};
  }

  Status launch(Executor& executor, const OperationArrays& arrays, std::size_t set, int threads,
                OperationValue& value) const {
    const std::vector<ArrayPlace> places = arrays.places(set);
    return entry_.run({executor, executor.default_queue(), sizes_, threads, places.data(), value});
  }

  /// Returns the arrays in the memory of the entry's backend. Throws Error where they do not fit.
  const OperationArrays& arrays_of(const Entry& entry) {
    if (entry.task.executor->capabilities().host_memory) return *host_;
    const auto at = on_devices_.find(entry.task.backend);
    if (at != on_devices_.end()) return at->second;
    return on_devices_.emplace(entry.task.backend, OperationArrays::on_device(*host_, *entry.task.executor))
        .first->second;
  }

  /// Runs one set, and gives the seconds of the operation alone.
  Status time(Entry& entry, std::size_t set, double& seconds) try {
    const OperationArrays& arrays = arrays_of(entry);
    Executor& executor = *entry.task.executor;
    measure::Stopwatch watch(executor);
    const Status status = watch.time_after([&] { return arrays.enqueue_preparation(set, executor); },
                                           [&] { return launch(executor, arrays, set, entry.task.threads, value_); });
    seconds = watch.seconds();
    return status;
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }

  void fail(Entry& entry, const Status& status) {
    const bool unavailable = status.code == StatusCode::Unavailable; // its functor has no code for the backend
    entry.fail({unavailable ? StatusCode::Rejected : status.code, status.why});
    bench_.progress.done(progress_name(entry.task, group_), expected_operations(bench_.options, group_.shape), 0);
    if (unavailable && bench_.options.demands(entry.task.backend)) bench_.miss(entry.task.backend, status.why);
  }

  /// Rejects or skips the entry, or decides how often it runs. The runs also warm it up.
  void admit(Entry& entry) {
    bench_.progress.show(fmt::format("{} {} warm-up", to_string(entry.task.backend), entry_.name));
    settle(entry);
    const int trials = entry.task.executor->capabilities().host_memory ? 1 : 2; // a device loads code in the first one
    for (int trial = 0; trial < trials; ++trial)
      if (const Status status = time(entry, host_->count() - 1, entry.seconds); !status.ok())
        return fail(entry, status);
    const double limit = bench_.options.time_limit;
    if (limit > 0 && entry.seconds > limit) {
      fail(entry, {StatusCode::Rejected,
                   fmt::format("one run takes {:.3g} s; force it with --time-limit {:.0f}, or 0 for no limit",
                               entry.seconds, std::ceil(entry.seconds * 1.2))});
      entry.result.verdict = Verdict::Skipped;
      entry.result.expected_seconds = entry.seconds;
      return;
    }
    entry.runs = measure::runs_within(limit, entry.seconds, bench_.options.repeat);
    const double all = expected_operations(bench_.options, group_.shape);
    bench_.progress.done(progress_name(entry.task, group_), all - one_run(entry) * entry.runs, 0);
  }

  double one_run(const Entry&) const {
    return expected_operations(bench_.options, group_.shape) / (bench_.options.repeat + 1);
  }

  /// Lets the threads of another backend go to sleep. Returns whether the entry's own threads have to wake up, or to be
  /// made because the entry before had fewer.
  bool settle(const Entry& entry) {
    const bool on_host = entry.task.executor->capabilities().host_memory;
    const bool changes = last_ != nullptr && last_->backend != entry.task.backend;
    if (changes && last_->executor->capabilities().host_memory) std::this_thread::sleep_for(until_threads_sleep);
    const bool wakes = on_host && last_ != nullptr && (changes || last_->threads != entry.task.threads);
    last_ = &entry.task;
    return wakes;
  }

  /// Times one run. The last one is of the first set, whose results the reference has.
  void sample(Entry& entry) {
    bench_.progress.show(fmt::format("{} {} {}", to_string(entry.task.backend), entry_.name, to_string(group_.type)));
    const std::size_t others = host_->count() - 1;
    const auto next_set = [&] { return others == 0 ? 0 : 1 + next_set_++ % others; };
    double seconds = 0;
    if (settle(entry) && entry.seconds < waking_shows_below)
      if (const Status status = time(entry, next_set(), seconds); !status.ok()) return fail(entry, status);
    const Status status = time(entry, entry.runs == 1 ? 0 : next_set(), seconds);
    if (!status.ok()) return fail(entry, status);
    entry.result.samples.push_back(seconds);
    bench_.progress.done(progress_name(entry.task, group_), one_run(entry), seconds);
    if (--entry.runs == 0)
      if (DeviceState state; read_device_state(*entry.task.executor, state).ok()) entry.result.device_state = state;
  }

  void check(Entry& entry) try {
    Result& result = entry.result;
    const measure::HostStopwatch watch;
    const OperationResults found = OperationResults::of(arrays_of(entry), 0, *entry.task.executor, value_);
    OperationFindings findings = compare_results(*host_, expected_, found);
    result.error = std::move(findings.error);
    result.reason = findings.reason;
    result.verdict = result.error->within_bound() ? Verdict::Pass : Verdict::Wrong;
    set_number(result, "check_seconds", watch.seconds());
    const double seconds = seconds_of(result, bench_.options.mean);
    if (!(seconds > 0)) return;
    if (result.flops > 0) result.gflops = result.flops / seconds * 1e-9;
    result.ceiling_percent = ceiling_percent(bench_.ceilings, result, seconds);
    if (!(result.bytes > 0)) return;
    result.bandwidth = result.bytes / seconds * 1e-9;
    set_number(result, "bandwidth_ceiling", bandwidth_ceiling(bench_.ceilings, result));
  } catch (const Error& error) {
    fail(entry, {error.code(), error.what()});
  }

  Bench& bench_;
  const Group& group_;
  const OperationEntry& entry_;
  const OperationSizes sizes_;
  std::vector<Entry> entries_;
  std::optional<OperationArrays> host_;
  std::map<Backend, OperationArrays> on_devices_;
  OperationResults expected_;
  OperationValue value_; ///< of the last run
  std::size_t next_set_ = 0;
  const Task* last_ = nullptr; ///< of the entry that ran last
};

} // namespace

std::string progress_name(const Task& task, const Group& group) {
  return fmt::format("{} {}", to_string(task.backend), group.operation->name);
}

void run_operation(Bench& bench, const Group& group) { OperationRace(bench, group).run(); }

} // namespace tessera::compare_app
