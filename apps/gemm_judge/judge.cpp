#include "judge.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "elements.hpp"
#include "examiner.hpp"
#include "fresh_data.hpp"
#include "measures.hpp"
#include "trial.hpp"
#include "workload.hpp"

namespace tessera::judge {
namespace {

struct PlannedCall {
  Kind kind = Kind::WholeNumbers;
  bool timed = true;
};

/// Returns why the ABI cannot express this call; null if it can.
const char* cannot_express(const JudgeRequest& request) {
  const GemmCall& call = request.call;
  const bool is_int8 = is_whole(call.type);
  if (is_int8 && (call.alpha != 1 || (call.beta != 0 && call.beta != 1)))
    return "int8 kernels take alpha = 1, and beta = 0 or 1";
  if (is_int8 && call.k > largest_int8_k)
    return "int8 kernels are judged with k up to 65536, so that int32 holds all sums";
  if (request.abi == Abi::Cblas && request.kernel->device() == Device::Cuda)
    return "cblas kernels run on the processor";
  if (request.abi == Abi::Tessera) return nullptr;
  if (request.abi == Abi::Python) {
    if (call.op_a != Op::None || call.op_b != Op::None) return "Python kernels take no transposed operands";
    return call.alpha != 1 || call.beta != 0 ? "Python kernels take alpha = 1 and beta = 0" : nullptr;
  }
  constexpr Index most = std::numeric_limits<int>::max();
  if (std::max({call.m, call.n, call.k, call.lda, call.ldb, call.ldc}) > most) return "sizes are 32-bit in this ABI";
  if (request.abi == Abi::Cblas) return is_int8 || is_16_bit(call.type) ? "cblas kernels take f32 or f64" : nullptr;
  if (call.op_a != Op::None || call.op_b != Op::None) return "leetgpu kernels take no transposed operands";
  if (call.alpha != 1 || call.beta != 0) return "leetgpu kernels take alpha = 1 and beta = 0";
  return nullptr;
}

/// Describes the product to the child. The leetgpu ABI has no leading dimensions, so its rows have no padding.
Problem describe(const JudgeRequest& request) {
  const GemmCall& call = request.call;
  const bool compact = request.abi == Abi::Leetgpu || request.abi == Abi::Python;
  const Index cols_a = call.op_a == Op::None ? call.k : call.m;
  const Index cols_b = call.op_b == Op::None ? call.n : call.k;
  Problem problem;
  problem.type = call.type;
  problem.op_a = call.op_a;
  problem.op_b = call.op_b;
  problem.threads = call.threads > 0 ? call.threads : default_threads();
  problem.shape = call.shape();
  problem.lda = compact ? cols_a : call.lda;
  problem.ldb = compact ? cols_b : call.ldb;
  problem.ldc = compact ? call.n : call.ldc;
  problem.alpha = call.alpha;
  problem.beta = call.beta;
  problem.memory_limit = request.memory_limit;
  problem.settle_seconds = request.settle_seconds;
  problem.watch_seconds = request.watch_seconds;
  return problem;
}

std::size_t bytes_of(Index rows, Index ld, std::size_t element) {
  return static_cast<std::size_t>(rows * ld) * element;
}

/// Returns the calls in an order that the kernel cannot foresee, nor their number. All timed ones have fresh data.
std::vector<PlannedCall> plan_calls(const JudgeRequest& request, const Workload& workload) {
  const Kind usual = is_whole(request.call.type) ? Kind::WholeNumbers : Kind::Fresh;
  std::vector<PlannedCall> calls(static_cast<std::size_t>(std::max(1, request.repeat)), PlannedCall{usual, true});
  std::mt19937_64 random = unpredictable();
  const auto insert = [&](Kind kind, std::size_t count) {
    const auto at = std::uniform_int_distribution<std::ptrdiff_t>(0, std::ssize(calls))(random);
    calls.insert(calls.begin() + at, count, {kind, false});
  };
  insert(usual, 1 + random() % 3);
  if (workload.can_be_exact()) insert(Kind::WholeNumbers, 1);
  if (workload.can_be_subnormal()) insert(Kind::Subnormal, 1);
  if (workload.has_data()) {
    insert(Kind::Permuted, 2);                            // in a row, so that an answer that is kept for one call shows
    calls.insert(calls.begin(), {Kind::Permuted, false}); // what a kernel learns from it serves the other two
  }
  calls.insert(calls.begin(), {workload.can_be_exact() ? Kind::WholeNumbers : usual, false}); // warm-up
  return calls;
}

void place(Workload& workload, const PlannedCall& planned) {
  switch (planned.kind) {
    case Kind::WholeNumbers:
      return workload.place_integers();
    case Kind::Subnormal:
      return workload.place_subnormals();
    case Kind::Permuted:
      return workload.place_permuted();
    case Kind::Fresh:
      return workload.place_fresh(planned.timed);
  }
}

/// Makes the planned calls. Returns how many were made.
int run_calls(const JudgeRequest& request, int threads, Trial& trial, Workload& workload, Examiner& examiner,
              JudgeVerdict& verdict) {
  const std::vector<PlannedCall> calls = plan_calls(request, workload);
  const bool on_processor = request.kernel->device() == Device::Cpu;
  TimesByData times;
  BusyMachine busy(trial, threads);
  int made = 0;
  for (; made < static_cast<int>(calls.size()) && !trial.ending(); ++made) {
    const PlannedCall& planned = calls[static_cast<std::size_t>(made)];
    place(workload, planned);
    const std::optional<Reply> reply = trial.call(made);
    if (!reply) break;
    examiner.examine(*reply, planned.kind, verdict);
    times.add(planned.kind, reply->seconds,
              on_processor ? std::min(reply->seconds, trial.processor_seconds() / threads) : reply->seconds);
    if (planned.timed) {
      verdict.seconds.push_back(reply->seconds);
      verdict.processor_seconds.push_back(trial.processor_seconds());
      busy.add(reply->seconds);
    }
    if (planned.kind == Kind::Permuted) verdict.c = workload.restored();
    if (request.progress) request.progress(made + 1, static_cast<int>(calls.size()));
  }
  if (trial.ending()) return made;
  if (on_processor) verdict.too_busy = busy.found();
  if (verdict.offence == Offence::None && trial.is_bound())
    if (verdict.why = busy.own_waiting(); !verdict.why.empty()) verdict.offence = Offence::UsesMoreThreads;
  // Threads that wait for one another in a loop, as OpenMP's do, take long where other programs have the processors.
  if (verdict.offence == Offence::None && verdict.too_busy.empty())
    if (verdict.why = times.difference(); !verdict.why.empty()) verdict.offence = Offence::CachedAnswer;
  return made;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A rate above the ceiling that was measured in this run is no rate of this machine. The margin is for what the
/// measurement itself can miss: the processor may have run at a lower frequency meanwhile, because other programs were
/// at work or because it was warmer. The function that measures repeats it before a kernel is blamed.
void compare_with_machine(const JudgeRequest& request, JudgeVerdict& verdict) {
  constexpr double margin = 1.1;
  if (!verdict.passed() || verdict.seconds.empty() || !request.peak) return;
  const double operations = 2.0 * static_cast<double>(request.call.m) * static_cast<double>(request.call.n) *
                            static_cast<double>(request.call.k);
  const double rate = operations / median_of(verdict.seconds);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const double peak = request.peak(attempt > 0);
    if (!(peak > 0) || rate <= margin * peak) return;
    verdict.why = fmt::format("{:.3g} GFLOP/s, where this machine does {:.3g} with {} thread{}", rate * 1e-9,
                              peak * 1e-9, request.call.threads, request.call.threads == 1 ? "" : "s");
  }
  verdict.offence = Offence::FasterThanMachine;
}

std::vector<std::string> missing_layers(const JudgeRequest& request, std::uint32_t layers) {
  std::vector<std::string> missing;
  if (request.kernel->device() == Device::Cuda) return {"a sandbox, because a GPU's driver needs what it refuses"};
  if ((layers & PidNamespace) == 0) missing.emplace_back("a name space of processes");
  if ((layers & LandlockFiles) == 0) missing.emplace_back("protection of files (Landlock)");
  if ((layers & (LandlockScopes | PidNamespace | SystemCallFilter)) == 0)
    missing.emplace_back("protection of other processes");
  if ((layers & SystemCallFilter) == 0) missing.emplace_back("a filter of system calls (seccomp)");
  if ((layers & (NetworkNamespace | SystemCallFilter)) == 0) missing.emplace_back("protection of the network");
  return missing;
}

} // namespace

JudgeVerdict judge(const JudgeRequest& as_asked) {
  JudgeRequest request = as_asked;
  if (!request.kernel->interpreter().empty()) request.abi = Abi::Python;
  const GemmCall& call = request.call;
  if (std::min({call.m, call.n, call.k}) < 1)
    throw InvalidArgument(
        fmt::format("--kernel: m, n and k must be at least 1, not {}, {}, {}", call.m, call.n, call.k));
  JudgeVerdict verdict;
  if (request.kernel->offence() != Offence::None) {
    verdict.offence = request.kernel->offence();
    verdict.why = "see the compiler's output";
    verdict.output = request.kernel->compiler_output();
    return verdict;
  }
  if (const char* why = cannot_express(request)) {
    verdict.outcome = Outcome::Rejected;
    verdict.why = why;
    return verdict;
  }
  Problem problem = describe(request);
  const std::size_t element = size_of(call.type);
  const std::size_t bytes = lay_out(problem, bytes_of(call.op_a == Op::None ? call.m : call.k, problem.lda, element),
                                    bytes_of(call.op_b == Op::None ? call.k : call.n, problem.ldb, element),
                                    bytes_of(call.m, problem.ldc, size_of(result_of(call.type))));
  problem.arena_bytes = Trial::arena_bytes(problem);
  PrivateMemory memory(bytes);
  Workload workload(call, problem, memory.data());
  Trial trial(request, problem, memory.data());
  Examiner examiner(request, problem, workload, trial);
  if (!trial.ending()) {
    const int made = run_calls(request, problem.threads, trial, workload, examiner, verdict);
    if (made > 0 && !trial.ending() && request.kernel->device() == Device::Cpu) examiner.examine_end(made - 1, verdict);
  }
  if (const std::optional<Ending>& ending = trial.ending(); ending && verdict.offence == Offence::None) {
    verdict.outcome = ending->outcome;
    verdict.offence = ending->offence;
    verdict.why = ending->why;
  }
  compare_with_machine(request, verdict);
  verdict.output = trial.output();
  verdict.round_trip = trial.round_trip();
  if (trial.is_prepared()) verdict.missing = missing_layers(request, trial.layers());
  return verdict;
}

JudgeVerdict judge_odd_shapes(JudgeRequest request) {
  GemmCall& call = request.call;
  call.a = call.b = call.c = nullptr;
  if (call.alpha != 1 && call.alpha != -1) call.alpha = 1;
  if (call.beta != 0) call.beta = 1;
  request.repeat = 1;
  request.peak = nullptr;
  JudgeVerdict verdict;
  for (const GemmShape& odd :
       {GemmShape{17, 19, 23}, GemmShape{130, 67, 33}, GemmShape{3, 257, 129}, GemmShape{1, 1, 1}}) {
    call.m = odd.m;
    call.n = odd.n;
    call.k = odd.k;
    call.lda = (call.op_a == Op::None ? odd.k : odd.m) + 5;
    call.ldb = (call.op_b == Op::None ? odd.n : odd.k) + 3;
    call.ldc = odd.n + 7;
    verdict = judge(request);
    if (verdict.passed()) continue;
    if (verdict.outcome == Outcome::Judged) verdict.why = fmt::format("{}×{}×{}: {}", odd.m, odd.n, odd.k, verdict.why);
    // A kernel may say beforehand that it does not take such shapes.
    if (verdict.outcome == Outcome::Rejected) verdict = {};
    if (!verdict.passed()) break;
  }
  return verdict;
}

std::string_view to_string(Abi abi) {
  switch (abi) {
    case Abi::Leetgpu:
      return "leetgpu";
    case Abi::Tessera:
      return "tessera";
    case Abi::Cblas:
      return "cblas";
    case Abi::Python:
      return "python";
  }
  return "unknown";
}

std::string_view to_string(Device device) { return device == Device::Cuda ? "cuda" : "cpu"; }

Abi parse_abi(std::string_view word) {
  const std::vector<std::string> known{"leetgpu", "tessera", "cblas"};
  const auto at = std::find(known.begin(), known.end(), word);
  if (at == known.end())
    throw InvalidArgument(fmt::format("--abi: unknown word '{}'; did you mean '{}'?", word, nearest_word(word, known)));
  return static_cast<Abi>(at - known.begin());
}

Device parse_device(std::string_view word) {
  if (word == "cpu") return Device::Cpu;
  if (word == "cuda") return Device::Cuda;
  throw InvalidArgument(fmt::format("--device: unknown word '{}'; use cpu or cuda", word));
}

} // namespace tessera::judge
