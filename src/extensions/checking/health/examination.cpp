#include "examination.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "cores.hpp"

namespace tessera::health_check {
namespace {

std::string digits_of(std::uint64_t digest) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(digest));
  return text;
}

} // namespace

Examination::Examination(const HealthOptions& options)
    : options_(options), problems_(probes().size()), unusable_(probes().size(), false) {
  if (!(options.seconds >= 0) || std::isinf(options.seconds))
    throw InvalidArgument("health: seconds = " + std::to_string(options.seconds) + "; it must be a number from 0 on");
  cores_ = usable_cores();
  find_backends();
}

void Examination::add_gap(std::string backend, std::string reason) {
  const std::lock_guard lock(mutex_);
  const auto is_it = [&](const HealthGap& gap) { return gap.backend == backend && gap.reason == reason; };
  if (std::none_of(report_.gaps.begin(), report_.gaps.end(), is_it))
    report_.gaps.push_back({std::move(backend), std::move(reason)});
}

void Examination::find_backends() {
  if (options_.backends.empty()) {
    for (const BackendInfo& info : available_backends()) {
      if (info.available)
        options_.backends.push_back(info.backend);
      else if (info.built)
        add_gap(std::string(to_string(info.backend)), info.reason);
    }
  }
  for (const Backend backend : options_.backends) {
    Executor& found = executor(backend);
    executors_.push_back(&found);
    report_.backends.emplace_back(to_string(found.capabilities().backend));
  }
}

/// Compares the right result, as this machine computes it, with the digest. Where they differ, each core computes it
/// once more, until one agrees.
void Examination::check_digest(Problem& made) {
  const Probe& probe = *made.probe;
  const std::uint64_t first = digest_of(made.expected);
  if (first == probe.digest) return;
  bool agrees = false;
  for (std::size_t i = 0; i < cores_.size() && !agrees; ++i)
    run_on_core(cores_[i], [&](int) {
      Problem again = problem_of(probe);
      agrees = digest_of(again.expected) == probe.digest;
      if (agrees) made = std::move(again);
    });
  HealthFinding finding;
  finding.backend = to_string(Backend::Reference);
  finding.device = executor(Backend::Reference).capabilities().device;
  finding.test = probe.name();
  finding.found = digits_of(first);
  finding.expected = digits_of(probe.digest);
  finding.runs = 1 + cores_.size();
  finding.wrong = agrees ? 1 : finding.runs;
  report_.findings.push_back(finding);
  if (!agrees) made.probe = nullptr;
}

/// Returns the test with its right result; null if this machine does not know it.
const Problem* Examination::problem(std::size_t probe) {
  const std::lock_guard lock(mutex_);
  if (unusable_[probe]) return nullptr;
  std::optional<Problem>& kept = problems_[probe];
  if (!kept) {
    kept = problem_of(probes()[probe]);
    check_digest(*kept);
    unusable_[probe] = kept->probe == nullptr;
    if (unusable_[probe]) return nullptr;
  }
  return &*kept;
}

void Examination::test(const Place& place, Queue& queue, std::size_t probe, const std::string& kernel, int threads,
                       bool cold, std::vector<char>& result) {
  const Problem* const known = problem(probe);
  if (known == nullptr) return;
  result.resize(std::max(result.size(), known->probe->result_bytes()));
  Difference difference;
  if (!health_check::run(*known, *place.executor, queue, kernel, threads, cold, result, difference)) return;
  const std::lock_guard lock(mutex_);
  ++report_.runs;
  HealthFinding& tally = tallies_[{place.executor, place.core, place.at_once, probe, kernel}];
  ++tally.runs;
  if (!difference.any()) return;
  ++tally.wrong;
  if (tally.wrong > 1) return;
  tally.backend = to_string(place.executor->capabilities().backend);
  tally.device = place.executor->capabilities().device;
  tally.core = place.core;
  tally.at_once = place.at_once;
  tally.test = known->probe->name();
  tally.kernel = kernel;
  tally.row = difference.row;
  tally.col = difference.col;
  tally.found = difference.found;
  tally.expected = difference.expected;
}

/// Runs the tests at one place, each with operands from memory and from the caches. The first round has short tests
/// alone, so that it ends soon on many cores.
void Examination::test_all(const Place& place, Queue& queue, int threads, std::size_t first_probe) {
  std::vector<char> result;
  const bool is_first = report_.rounds == 0;
  const bool is_serial = place.executor->capabilities().backend == Backend::Reference;
  const std::size_t count = probes().size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t probe = (first_probe + i) % count;
    const Weight weight = probes()[probe].weight;
    if (is_first && weight != Weight::Short) continue;
    if (weight == Weight::Large && is_serial) continue; // it would take most of the time
    for (const std::string& kernel : kernels_for(probes()[probe], *place.executor))
      for (const bool cold : {true, false, false}) {
        if (is_over()) return;
        test(place, queue, probe, kernel, threads, cold, result);
      }
  }
}

void Examination::test_host(Executor& executor) {
  Queue& queue = executor.default_queue();
  const std::string backend(to_string(executor.capabilities().backend));
  const auto add_refused = [&](const std::vector<int>& cores) {
    for (const int core : cores)
      add_gap(backend, "the system does not let a thread stay on core " + std::to_string(core));
  };
  for (const int core : cores_) {
    if (is_over()) return;
    const auto alone = [&](int here) { test_all({&executor, here, false}, queue, 1, 0); };
    add_refused(run_on_cores({core}, alone));
  }
  if (cores_.size() > 1 && !is_over())
    add_refused(run_on_cores(cores_, [&](int core) { // each begins with another test
      test_all({&executor, core, true}, queue, 1, static_cast<std::size_t>(core) % probes().size());
    }));
  if (!is_over()) test_all({&executor, -1, true}, queue, 0, 0);
}

void Examination::test_device(Executor& executor) { test_all({&executor, -1, false}, executor.default_queue(), 0, 0); }

HealthReport Examination::run() {
  report_.cores = cores_;
  if (cores_.empty()) add_gap("", "the system does not tell which cores there are; none is tested by itself");
  while (!is_over()) {
    for (Executor* const executor : executors_)
      if (executor->capabilities().host_memory)
        test_host(*executor);
      else
        test_device(*executor);
    if (report_.rounds == 0 || !is_over()) ++report_.rounds;
    if (options_.seconds == 0) break;
  }
  for (const auto& [place, tally] : tallies_)
    if (tally.wrong > 0) report_.findings.push_back(tally);
  report_.seconds = watch_.seconds();
  return report_;
}

} // namespace tessera::health_check
