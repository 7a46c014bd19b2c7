#include "gemm_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include <tessera/backend/traffic.hpp>
#include <tessera/detail/printable.hpp>
#include <tessera/gemm.hpp>
#include <tessera/status.hpp>

#include "check/verdict.hpp"
#include "common/machine.hpp"
#include "common/notes.hpp"
#include "core/measure/repeat.hpp"
#include "core/measure/time_summary.hpp"
#include "gemm_entry.hpp"
#include "report/columns/columns.hpp"
#include "transfers.hpp"

namespace tessera::compare_app {
namespace {

constexpr std::size_t rotation_bytes = std::size_t{1} << 30;

std::size_t memory_budget() { return std::min(rotation_bytes, apps::available_memory_bytes() / 4); }

/// Bytes of the largest cache in which a product of this group may find its operands: the processor's last cache if a
/// backend of the processor takes part, and the L2 of each device that does.
std::size_t cache_bytes(const Group& group) {
  std::size_t bytes = 0;
  for (const Task& task : group.tasks) {
    const Capabilities& machine = task.executor->capabilities();
    bytes = std::max(bytes, machine.host_memory ? apps::last_level_cache_bytes() : machine.l2_bytes);
  }
  return bytes;
}

Result pending(const Options& options, const Group& group, const Task& task) {
  Result result = pending_product(options, group, task);
  result.canonical = has_contract(task.gemm->summation);
  return result;
}

} // namespace

void Bench::miss(Backend backend, const std::string& why) {
  progress.clear();
  apps::note("gemm_compare: {}: {}\n", to_string(backend), detail::printable(why));
  demanded_missing = true;
}

void Bench::note_unverified(Backend backend) {
  if (!unverified.insert(backend).second) return;
  progress.clear();
  apps::note("gemm_compare: --verify: {} computes in a device's memory, where products cannot verify themselves yet\n",
             to_string(backend));
}

double expected_operations(const Options& options, const GemmShape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k) *
         static_cast<double>(options.repeat + 1);
}

GemmRunner::GemmRunner(Bench& bench, const Group& group, const GivenData* given, std::vector<std::byte>* product)
    : bench_(bench),
      group_(group),
      problem_(bench.options, group.shape, group.type),
      host_(Operands::on_host(problem_, bench.options, given,
                              sets_to_rotate(problem_.bytes(), cache_bytes(group), memory_budget()))),
      check_(host_.call_before(0), bench.options, bench.progress),
      product_(product) {}

GemmRunner::~GemmRunner() = default;

void GemmRunner::run() {
  std::vector<Result> board;
  Backend last = Backend::Auto;
  for (const Task& task : group_.tasks) {
    if (task.backend != last && !task.executor->capabilities().host_memory)
      for (const Direction direction : {Direction::In, Direction::Out})
        board.push_back(pending_transfer(pending(bench_.options, group_, task), direction));
    last = task.backend;
    Entry entry{
        {task, pending(bench_.options, group_, task)}, board.size(), expected_operations(bench_.options, group_.shape)};
    board.push_back(entry.result);
    entries_.push_back(std::move(entry));
  }
  const std::size_t judged_from = board.size();
  for (std::size_t k = 0; k < bench_.judged.count(); ++k) board.push_back(bench_.judged.pending(k, group_));
  bench_.board.begin_group(board);
  for (std::size_t first = 0; first < entries_.size();) {
    std::size_t end = first;
    while (end < entries_.size() && entries_[end].task.backend == entries_[first].task.backend) ++end;
    run_backend(first, end);
    first = end;
  }
  for (std::size_t k = 0; k < bench_.judged.count(); ++k) run_judged(k, judged_from + k);
  bench_.board.end_group();
}

void GemmRunner::run_judged(std::size_t kernel, std::size_t position) {
  Result result = bench_.judged.pending(kernel, group_);
  // The ceiling is measured by a kernel of the ladder on the same device with as many threads, if there is one.
  const auto ladder = std::find_if(group_.tasks.begin(), group_.tasks.end(), [&](const Task& task) {
    return task.executor->capabilities().host_memory == (result.device == "cpu") && task.threads == result.threads &&
           task.backend != Backend::Reference;
  });
  const auto peak = [&](bool again) {
    if (ladder == group_.tasks.end() || !is_element_type(result.type)) return 0.0;
    return (again ? bench_.ceilings.find_again(ladder->backend, result.type, result.math, result.threads)
                  : bench_.ceilings.find(ladder->backend, result.type, result.math, result.threads))
        .flops;
  };
  bench_.judged.run(kernel, host_.call_before(0), &check_, bench_.progress, peak, result);
  if (!result.samples.empty() && ladder != group_.tasks.end()) {
    Result as_if = result;
    as_if.backend = ladder->backend;
    result.ceiling_percent = ceiling_percent(bench_.ceilings, as_if, seconds_of(result, bench_.options.mean));
    set_number(result, "model", model_seconds(bench_.ceilings, as_if, compulsory_traffic(host_.call_before(0))));
  }
  bench_.board.set(position, result);
}

void GemmRunner::run_backend(std::size_t first, std::size_t last) {
  Executor& executor = *entries_[first].task.executor;
  operands_ = &host_;
  const bool on_host = executor.capabilities().host_memory;
  try {
    if (!on_host) {
      device_.emplace(Operands::on_device(problem_, host_, executor));
      operands_ = &*device_;
      std::size_t position = entries_[first].position - 2;
      for (const Direction direction : {Direction::In, Direction::Out}) {
        Result transfer = pending_transfer(entries_[first].result, direction);
        time_transfer(direction, problem_, host_, *device_, executor, bench_.options.repeat, transfer);
        bench_.board.set(position++, transfer);
      }
    }
    for (std::size_t e = first; e < last; ++e)
      if (!admit(entries_[e])) bench_.board.set(entries_[e].position, entries_[e].result);
    choose_timing(first, last);
    measure::take_turns(first, last, [&](std::size_t e) {
      Entry& entry = entries_[e];
      if (entry.runs == 0) return false;
      const bool final = entry.runs == 1;
      if (bench_.options.verify) sample_verified(entry);
      if (entry.runs > 0) sample(entry, final ? 0 : next_set());
      if (final && entry.active()) check(entry);
      bench_.board.set(entry.position, entry.result);
      return entry.runs > 0;
    });
  } catch (const Error& error) { // memory ran out or the device failed: no other kernel can run
    for (std::size_t e = first; e < last; ++e) {
      if (!entries_[e].active()) continue;
      entries_[e].fail({error.code(), error.what()});
      bench_.board.set(entries_[e].position, entries_[e].result);
    }
  }
  for (std::size_t e = first; e < last; ++e) entries_[e].recorded.reset();
  device_.reset();
  // Threads of one library may spin for a while after their work and would slow down the next backend.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

/// Returns the set of operands that the next run takes; the first set is kept for the last run.
std::size_t GemmRunner::next_set() {
  const std::size_t others = operands_->count() - 1;
  return others == 0 ? 0 : 1 + next_set_++ % others;
}

/// Times a product that verifies itself, where this backend has them, in turns with the plain ones.
void GemmRunner::sample_verified(Entry& entry) {
  const Task& task = entry.task;
  Executor& executor = *task.executor;
  if (!executor.capabilities().host_memory) {
    bench_.note_unverified(task.backend);
    return;
  }
  const std::size_t set = next_set();
  const GemmCall call = operands_->call(set, task.gemm->math, task.threads);
  operands_->prepare(set, executor);
  try {
    const measure::HostStopwatch watch;
    detail::gemm_raw(call, {.backend = task.backend,
                            .math = call.math,
                            .kernel = task.gemm->name,
                            .threads = task.threads,
                            .verify = Verify::Detect});
    entry.verified.push_back(watch.seconds());
  } catch (const Error& error) { // wrong data too: then the machine is not to be trusted
    entry.fail({error.code(), error.what()});
  }
}

void GemmRunner::sample(Entry& entry, std::size_t set) {
  const Task& task = entry.task;
  Executor& executor = *task.executor;
  bench_.progress.show(fmt::format("{} {} {}×{}×{} {}", to_string(task.backend), entry.result.kernel, group_.shape.m,
                                   group_.shape.n, group_.shape.k, to_string(group_.type)));
  const GemmCall call = operands_->call(set, task.gemm->math, task.threads);
  double seconds = 0;
  Status status;
  if (entry.recorded) {
    status = entry.recorded->time(seconds);
  } else {
    operands_->prepare(set, executor);
    measure::Stopwatch watch(executor);
    status = watch.time([&] { return executor.gemm(executor.default_queue(), call, task.gemm->name); });
    seconds = watch.seconds();
  }
  --entry.runs;
  if (entry.runs == 0)
    if (DeviceState state; read_device_state(executor, state).ok()) entry.result.device_state = state;
  if (!status.ok()) {
    entry.fail(status);
    return;
  }
  entry.result.samples.push_back(seconds);
  check_.add_race(seconds * entry.result.runs_per_sample);
  bench_.progress.done(entry.result.kernel, operations(entry.result), seconds * entry.result.runs_per_sample);
}

void GemmRunner::check(Entry& entry) {
  Result& result = entry.result;
  const double seconds = seconds_of(result, bench_.options.mean);
  result.gflops = seconds > 0 ? operations(result) / seconds * 1e-9 : unknown;
  if (!entry.verified.empty() && seconds > 0) {
    const double verified = measure::summarize(entry.verified).median;
    set_number(result, "verify_cost", 100 * (verified / measure::summarize(result.samples).median - 1));
  }

  const GemmCall call = operands_->call(0, result.math, 0);
  std::vector<std::byte> downloaded;
  const void* c = call.c;
  if (device_) {
    downloaded.resize(problem_.c.bytes());
    operands_->copy_out(0, *entry.task.executor, downloaded.data());
    c = downloaded.data();
  }
  const measure::HostStopwatch watch;
  ProductCheck::Findings findings = check_.check(c, problem_.c.ld, Arithmetic::of(*entry.task.gemm));
  result.error = std::move(findings.error);
  result.freivalds = findings.freivalds;
  set_number(result, "check_seconds", watch.seconds());
  set_verdict(result, problem_.is_exact(result.math));
  if (bench_.options.timing == Timing::Graph && !result.timing_note.empty() && result.verdict == Verdict::Pass)
    result.reason += (result.reason.empty() ? "timed by events: " : "; timed by events: ") + result.timing_note;
  result.ceiling_percent = ceiling_percent(bench_.ceilings, result, seconds);
  const GemmTraffic traffic = traffic_of(*entry.task.gemm, call);
  set_number(result, "model", model_seconds(bench_.ceilings, result, traffic));
  if (entry.task.gemm->traffic != nullptr) set_number(result, "global_accesses", traffic.accesses);
  KernelResources resources;
  if (device_ &&
      read_kernel_resources(*entry.task.executor, operands_->call(0, result.math, 0), result.kernel, resources).ok())
    set_resources(resources, result);
  keep_product(entry, c);
}

void GemmRunner::keep_product(const Entry& entry, const void* c) {
  if (product_ == nullptr || !product_by_.empty() || entry.result.verdict != Verdict::Pass) return;
  const auto* bytes = static_cast<const std::byte*>(c);
  product_->assign(bytes, bytes + problem_.c.bytes());
  product_by_ = fmt::format("{} {}", to_string(entry.task.backend), entry.result.kernel);
}

} // namespace tessera::compare_app
