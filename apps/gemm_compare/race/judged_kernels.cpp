#include "judged_kernels.hpp"

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/detail/printable.hpp>
#include <tessera/status.hpp>

#include "check/verdict.hpp"
#include "common/notes.hpp"

namespace tessera::compare_app {
namespace {

using judge::JudgeRequest;
using judge::JudgeVerdict;

/// The arithmetic that decides the bound. All reduced modes are modes of tensor cores, which truncate.
Arithmetic arithmetic(const Options& options, DType type) {
  const Math math = options.judging.math;
  return {type, math, Summation::Other, math == Math::Strict ? Accumulator::Native : Accumulator::Truncating};
}

void set_verdict(const JudgeVerdict& verdict, Result& result) {
  result.reason = verdict.why;
  switch (verdict.outcome) {
    case judge::Outcome::Rejected:
      result.verdict = Verdict::Rejected;
      return;
    case judge::Outcome::Unavailable:
      result.verdict = Verdict::Failed;
      return;
    case judge::Outcome::Judged:
      break;
  }
  if (verdict.offence == judge::Offence::None) {
    result.verdict = Verdict::Pass;
    return;
  }
  result.offence = to_string(verdict.offence);
  result.verdict = verdict_word(verdict.offence) == "wrong" ? Verdict::Wrong : Verdict::Failed;
  // The table shows the verdict in front of the reason, so a reason that equals it says nothing.
  if (result.offence != to_string(result.verdict)) result.reason = fmt::format("{}: {}", result.offence, verdict.why);
}

std::string join(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : ", ") + word;
  return joined;
}

} // namespace

JudgedKernels::JudgedKernels(const Options& options) : options_(options) {
  for (const std::string& path : options.judging.files) {
    Judged judged;
    judged.name = std::filesystem::path(path).filename();
    judged.file = std::make_unique<judge::KernelFile>(path, options.judging.device, options.judging.flags);
    if (judged.file->device() == judge::Device::Cuda) executor(Backend::Cuda); // throws if there is no CUDA device
    if (judged.file->offence() != judge::Offence::None)
      apps::note("gemm_compare: {} does not compile:\n{}\n", path,
                 detail::printable(judged.file->compiler_output(), true));
    kernels_.push_back(std::move(judged));
  }
}

Result JudgedKernels::pending(std::size_t kernel, const Group& group) const {
  const Judged& judged = kernels_[kernel];
  const bool cpu = judged.file->device() == judge::Device::Cpu;
  const int threads = !cpu ? 0 : options_.threads.empty() ? default_threads() : options_.threads.front();
  Result result = pending_product(
      options_, group, {.backend = cpu ? Backend::Reference : Backend::Cuda, .executor = nullptr, .threads = threads});
  result.result.clear(); // C has the type of the operands, whatever --result asks of other kernels
  result.device = cpu ? "cpu" : "cuda";
  result.kernel = judged.name;
  result.math = options_.judging.math;
  return result;
}

void JudgedKernels::run(std::size_t kernel, const GemmCall& call, ProductCheck* check, Progress& progress,
                        const std::function<double(bool again)>& peak, Result& result) {
  Judged& judged = kernels_[kernel];
  if (call.m == 0 || call.n == 0 || call.k == 0) {
    result.verdict = Verdict::Rejected;
    result.reason = "a judged kernel needs m, n and k of at least 1";
    return;
  }
  JudgeRequest request;
  request.kernel = judged.file.get();
  request.abi = options_.judging.abi;
  request.call = call;
  request.call.math = options_.judging.math;
  request.call.threads = result.threads;
  request.repeat = options_.repeat;
  request.time_limit = options_.judging.time_limit;
  request.memory_limit = options_.judging.memory_limit;
  if (check != nullptr)
    request.check = [&](const void* c) {
      const ProductCheck::Findings findings = check->check(c, call.ldc, arithmetic(options_, call.type));
      return over_bound(findings.error, findings.freivalds);
    };
  request.progress = [&](int done, int calls) {
    progress.show(fmt::format("judging {} {}/{}", judged.name, done, calls));
  };
  request.peak = peak;
  progress.show(fmt::format("judging {}", judged.name));
  const JudgeVerdict verdict = judge::judge(request);
  set_verdict(verdict, result);
  complain(verdict, progress);
  result.samples = verdict.seconds;
  if (!verdict.processor_seconds.empty()) result.processor_seconds = summarize(verdict.processor_seconds).median;
  if (!verdict.seconds.empty()) result.gflops = operations(result) / seconds_of(result, options_.mean) * 1e-9;
  if (check != nullptr && !verdict.c.empty()) {
    ProductCheck::Findings findings = check->check(verdict.c.data(), call.ldc, arithmetic(options_, call.type));
    result.error = std::move(findings.error);
    result.freivalds = findings.freivalds;
  }
  if (result.verdict == Verdict::Pass) {
    const JudgeVerdict& odd = odd_shapes(judged, request);
    if (!odd.passed()) {
      set_verdict(odd, result);
      result.reason += "; right at this shape";
    } else {
      result.reason = coverage(result);
    }
    if (const std::string lacks = join(verdict.missing); result.verdict == Verdict::Pass && !lacks.empty())
      result.reason += fmt::format("{}judged without {}", result.reason.empty() ? "" : "; ", lacks);
  }
  if (result.verdict == Verdict::Pass && !verdict.too_busy.empty()) {
    result.verdict = Verdict::CannotSay;
    result.reason = fmt::format("right, but not how fast: {}{}{}", verdict.too_busy, result.reason.empty() ? "" : "; ",
                                result.reason);
  }
  if (!verdict.output.empty() && result.verdict != Verdict::Pass) {
    progress.clear();
    apps::note("gemm_compare: {} printed:\n{}\n", detail::printable(judged.name),
               detail::printable(verdict.output, true));
  }
}

void JudgedKernels::complain(const JudgeVerdict& verdict, Progress& progress) {
  const std::string lacks = join(verdict.missing);
  if (lacks.empty() || lacks == complained_) return;
  complained_ = lacks;
  progress.clear();
  apps::note("gemm_compare: judged without {}; docs/judge.md says what a kernel could do\n", lacks);
}

const JudgeVerdict& JudgedKernels::odd_shapes(Judged& judged, const JudgeRequest& request) {
  const auto found = judged.odd_shapes.find(request.call.type);
  if (found != judged.odd_shapes.end()) return found->second;
  return judged.odd_shapes.emplace(request.call.type, judge_odd_shapes(request)).first->second;
}

} // namespace tessera::compare_app
