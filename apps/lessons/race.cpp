#include "race.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::lessons {

Raced race(const judge::KernelFile& kernel, Index size, const Limits& limits) {
  judge::JudgeRequest request;
  request.kernel = &kernel;
  request.abi = judge::Abi::Tessera;
  request.time_limit = std::max(20.0, limits.seconds);
  request.memory_limit = limits.memory;
  request.program = limits.judge_program;
  request.repeat = 7;
  request.call.type = DType::F32;
  request.call.m = request.call.n = request.call.k = size;
  request.call.lda = request.call.ldb = request.call.ldc = size;
  request.call.threads = limits.threads;
  const judge::JudgeVerdict verdict = judge::judge(request);
  Raced raced;
  if (!verdict.seconds.empty()) raced.seconds = *std::min_element(verdict.seconds.begin(), verdict.seconds.end());
  if (verdict.passed()) return raced;
  using judge::Offence;
  const bool of_result = verdict.offence == Offence::Wrong || verdict.offence == Offence::WrongAtEdges ||
                         verdict.offence == Offence::NotANumber;
  raced.finding =
      of_result ? Finding{Mistake::Imprecise,
                          fmt::format("with {0}×{0} matrices of numbers that are not whole, C is off ({1})", size,
                                      verdict.why),
                          "Whole numbers were right: look at the type of the sums, and for threads that share one.",
                          {}}
                : ending_in_words(verdict.offence, verdict.why);
  return raced;
}

} // namespace tessera::lessons
