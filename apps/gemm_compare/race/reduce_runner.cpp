#include "reduce_runner.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "common/machine.hpp"
#include "core/measure/repeat.hpp"
#include "data_sets.hpp"
#include "report/columns/columns.hpp"

namespace tessera::compare_app {
namespace {

constexpr std::size_t vector_rotation_bytes = std::size_t{256} << 20;

/// Vectors in one executor's memory.
struct Vectors {
  Stored shape;
  std::vector<Buffer> buffers;

  ReduceCall call(std::size_t set, int threads) const {
    return {ReduceOp::SumOfSquares, shape.type, 1, shape.cols, buffers[set].data(), shape.ld, threads};
  }
};

Vectors on_host(const Options& options, const Stored& shape, std::size_t count) {
  Executor& host = executor(Backend::Reference);
  Vectors vectors{shape, {}};
  for (std::size_t s = 0; s < count; ++s) {
    vectors.buffers.emplace_back(host, shape.bytes());
    if (shape.type == DType::I32) {
      fill_whole(options.filling, shape.cols, options.seed + s, static_cast<std::int32_t*>(vectors.buffers[s].data()));
      continue;
    }
    throw_if_failed(host.random(host.default_queue(),
                                {options.filling.distribution, shape.type, 1, shape.cols, vectors.buffers[s].data(),
                                 shape.ld, options.seed + s, options.filling.low, options.filling.high, 0}));
  }
  return vectors;
}

Vectors on_device(const Vectors& host, Executor& device) {
  Vectors vectors{host.shape, {}};
  for (const Buffer& buffer : host.buffers) {
    vectors.buffers.emplace_back(device, host.shape.bytes());
    throw_if_failed(device.copy_in(device.default_queue(), vectors.buffers.back().data(), host.shape.pitch(),
                                   buffer.data(), host.shape.pitch(), host.shape.width(), 1));
  }
  return vectors;
}

/// Sums of whole numbers are right if they are exact.
GemmError judge_whole(std::int64_t value, std::int64_t exact) {
  GemmError error;
  error.rows = error.rows_compared = 1;
  if (value == exact) return error;
  error.differing_bits = 1;
  error.total_abs = error.max_abs = std::abs(static_cast<double>(value) - static_cast<double>(exact));
  error.max_rel = error.mean_rel = error.max_abs / static_cast<double>(exact);
  error.max_over_bound = std::numeric_limits<double>::infinity();
  return error;
}

GemmError judge(const ReduceResult& found, const ReduceReference& reference, double canonical) {
  if (reference.whole) return judge_whole(found.whole, *reference.whole);
  const double value = found.value;
  GemmError error;
  error.rows = error.rows_compared = 1;
  error.differing_bits = std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(canonical) ? 0 : 1;
  const double off = std::abs(value - reference.value);
  if (!std::isfinite(reference.value) || !std::isfinite(value)) {
    const bool same = std::isnan(reference.value) ? std::isnan(value) : value == reference.value;
    error.misplaced = same ? 0 : 1;
    return error;
  }
  error.total_abs = error.max_abs = off;
  error.max_rel = error.mean_rel = off == 0 ? 0 : off / reference.value;
  error.max_over_bound = off == 0 ? 0 : off / reference.bound;
  return error;
}

struct Entry : Contender {
  ReduceResult found{};                 ///< of the last run
  std::vector<double> device_seconds{}; ///< of each timed run of a kernel that reads the device's clock
};

/// Times one run and keeps its result.
void sample(Entry& entry, const Vectors& vectors, std::size_t set) {
  Executor& executor = *entry.task.executor;
  const ReduceCall call = vectors.call(set, entry.task.threads);
  ReduceResult found;
  measure::Stopwatch watch(executor);
  const Status status =
      watch.time([&] { return executor.reduce(executor.default_queue(), call, found, entry.task.reduce->name); });
  if (!status.ok()) {
    entry.fail(status);
    return;
  }
  entry.result.samples.push_back(watch.seconds());
  if (found.device_seconds > 0) entry.device_seconds.push_back(found.device_seconds);
  entry.found = found;
}

void finish(Bench& bench, Entry& entry, const ReduceReference& reference, double canonical) {
  Result& result = entry.result;
  const double seconds = seconds_of(result, bench.options.mean);
  result.gflops = seconds > 0 ? operations(result) / seconds * 1e-9 : unknown;
  if (!entry.device_seconds.empty()) set_number(result, "device_seconds", summarize(entry.device_seconds).median);
  result.error = judge(entry.found, reference, canonical);
  result.verdict = result.error->within_bound() ? Verdict::Pass : Verdict::Wrong;
  const bool wrong = result.verdict == Verdict::Wrong;
  if (reference.whole)
    result.reason = wrong ? fmt::format("{} instead of {}", entry.found.whole, *reference.whole)
                          : fmt::format("exact: {}", *reference.whole);
  else if (wrong)
    result.reason = fmt::format("{} instead of {}", entry.found.value, reference.value);
  result.ceiling_percent = ceiling_percent(bench.ceilings, result, seconds);
}

/// Returns how often the kernel runs within the time limit; 0, with a reason in the entry, if it does not run.
void admit(Bench& bench, Entry& entry, const Vectors& vectors) {
  sample(entry, vectors, vectors.buffers.size() - 1); // warms up
  if (!entry.active()) return;
  const double expected = entry.result.samples.front();
  entry.result.samples.clear();
  entry.device_seconds.clear();
  entry.runs = measure::runs_within(bench.options.time_limit, expected, bench.options.repeat);
}

} // namespace

void run_reductions(Bench& bench, const Group& group) {
  const Stored shape(1, group.shape.n, group.type);
  const Vectors host = on_host(bench.options, shape,
                               sets_to_rotate(shape.bytes(), apps::last_level_cache_bytes(),
                                              std::min(vector_rotation_bytes, apps::available_memory_bytes() / 4)));
  const ReduceReference reference = reduce_reference(host.call(0, 0));
  if (group.type == DType::I32 && !reference.whole)
    throw InvalidArgument(
        fmt::format("--dist: the squares of {} such whole numbers add up to {:.3g}, and int64 ends at 2^63; "
                    "give a narrower range, as in --dist integers:{:g}:{:g}",
                    group.shape.n, reference.value, default_whole.low, default_whole.high));
  ReduceResult canonical;
  Executor& serial = executor(Backend::Reference);
  throw_if_failed(serial.reduce(serial.default_queue(), host.call(0, 0), canonical, "canonical"));

  std::vector<Entry> entries;
  std::vector<Result> board;
  for (const Task& task : group.tasks) {
    Result result = pending_task(group, task);
    result.operation = Operation::SumOfSquares;
    result.canonical = task.reduce->summation == Summation::Canonical;
    board.push_back(result);
    entries.push_back({{task, result}});
  }
  bench.board.begin_group(board);

  for (std::size_t first = 0; first < entries.size();) {
    std::size_t end = first;
    while (end < entries.size() && entries[end].task.backend == entries[first].task.backend) ++end;
    Executor& device = *entries[first].task.executor;
    std::optional<Vectors> copied;
    if (!device.capabilities().host_memory) copied = on_device(host, device);
    const Vectors& vectors = copied ? *copied : host;
    for (std::size_t e = first; e < end; ++e) admit(bench, entries[e], vectors);
    std::size_t next = 0;
    measure::take_turns(first, end, [&](std::size_t e) {
      Entry& entry = entries[e];
      if (entry.runs == 0) return false;
      bench.progress.show(
          fmt::format("{} {} Σx² of {}", to_string(entry.task.backend), entry.result.kernel, group.shape.n));
      const std::size_t others = vectors.buffers.size() - 1;
      sample(entry, vectors, entry.runs == 1 || others == 0 ? 0 : 1 + next++ % others);
      if (entry.runs > 0 && --entry.runs == 0) finish(bench, entry, reference, canonical.value);
      bench.board.set(e, entry.result);
      return entry.runs > 0;
    });
    for (std::size_t e = first; e < end; ++e) bench.board.set(e, entries[e].result);
    first = end;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  bench.board.end_group();
}

} // namespace tessera::compare_app
