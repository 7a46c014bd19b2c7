#include "marking.hpp"

#include <array>

#include "diagnosis/diagnosis.hpp"

namespace tessera::lessons {
namespace {

constexpr Op turned = Op::Transpose;

/// Each case has one difficulty that those before it do not have.
constexpr std::array all_cases{
    Case{.subject = "whole tiles", .shape = {64, 64, 64}},
    Case{.subject = "m, n and k differ", .shape = {128, 192, 64}},
    Case{.subject = "rows lie further apart than they are long", .shape = {64, 128, 64}, .pad = 8},
    Case{.subject = "alpha", .shape = {64, 64, 64}, .alpha = 2},
    Case{.subject = "beta", .shape = {64, 64, 64}, .beta = 3},
    Case{.subject = "alpha and beta", .shape = {64, 64, 64}, .pad = 8, .alpha = -2, .beta = 3},
    Case{.subject = "an m that no tile divides", .shape = {67, 64, 64}, .pad = 8},
    Case{.subject = "an n that no tile divides", .shape = {64, 69, 64}, .pad = 8},
    Case{.subject = "a k that no tile divides", .shape = {64, 64, 61}, .pad = 8},
    Case{.subject = "A transposed", .shape = {64, 128, 64}, .op_a = turned},
    Case{.subject = "B transposed", .shape = {128, 64, 64}, .op_b = turned},
    Case{.subject = "no size that a tile divides", .shape = {37, 45, 29}, .pad = 5, .alpha = 2, .beta = -1},
    Case{.subject = "both transposed, no size that a tile divides",
         .shape = {37, 45, 29},
         .pad = 5,
         .op_a = turned,
         .op_b = turned},
    Case{.subject = "one element", .shape = {1, 1, 1}},
    Case{.subject = "few rows, many columns", .shape = {3, 257, 130}, .pad = 1},
    Case{.subject = "a long k", .shape = {6, 10, 2100}},
    Case{.subject = "threads side by side", .shape = {192, 192, 128}},
    Case{.subject = "f64", .shape = {37, 45, 29}, .pad = 5, .op_b = turned, .alpha = 2, .beta = 3, .type = DType::F64}};

/// The same difficulties, of which the lens has a result in a second. Rows lie as close as they can.
constexpr std::array gpu_cases{
    Case{.subject = "whole tiles", .shape = {128, 128, 16}},
    Case{.subject = "m, n and k differ", .shape = {64, 128, 32}},
    Case{.subject = "alpha", .shape = {64, 64, 16}, .alpha = 2},
    Case{.subject = "beta", .shape = {64, 64, 16}, .beta = 3},
    Case{.subject = "alpha and beta", .shape = {64, 64, 16}, .alpha = -2, .beta = 3},
    Case{.subject = "an m that no tile divides", .shape = {67, 64, 32}},
    Case{.subject = "an n that no tile divides", .shape = {64, 69, 32}},
    Case{.subject = "a k that no tile divides", .shape = {64, 64, 77}},
    Case{.subject = "A transposed", .shape = {64, 96, 32}, .op_a = turned},
    Case{.subject = "B transposed", .shape = {96, 64, 32}, .op_b = turned},
    Case{.subject = "no size that a tile divides", .shape = {37, 45, 29}, .alpha = 2, .beta = -1},
    Case{.subject = "both transposed, no size that a tile divides",
         .shape = {37, 45, 29},
         .op_a = turned,
         .op_b = turned},
    Case{.subject = "one element", .shape = {1, 1, 1}},
    Case{.subject = "few rows, many columns", .shape = {3, 257, 21}},
    Case{.subject = "a long k", .shape = {3, 5, 1100}},
    Case{.subject = "f64", .shape = {37, 45, 29}, .op_b = turned, .alpha = 2, .beta = 3, .type = DType::F64}};

/// Does the kernel read C although beta is 0? Then C is NaN, and is right as soon as C holds numbers.
bool reads_c(const Caller& call, Case tried) {
  tried.beta = 1;
  const Calls calls = call(tried, 1);
  return !calls.seen.empty() && diagnose(calls.seen.front()).mistake != Mistake::NotANumber;
}

Finding finding_of(const Caller& call, const Case& tried, const Calls& calls) {
  const Mistake around = calls.finding.mistake;
  const bool comes_first = around == Mistake::WritesOutside || around == Mistake::ReadsOutside ||
                           around == Mistake::Race || around == Mistake::BarrierInBranch ||
                           around == Mistake::Uninitialised || around == Mistake::LaunchRefused;
  if (calls.seen.empty() || comes_first) return calls.finding;
  for (std::size_t other = 1; other < calls.seen.size(); ++other)
    if (Finding differs = diagnose_difference(calls.seen.front(), calls.seen[other]); !differs.none()) return differs;
  Finding finding = diagnose(calls.seen.front());
  if (finding.mistake == Mistake::NotANumber && tried.beta == 0 && reads_c(call, tried))
    return {Mistake::ReadsC,
            "C is NaN: the old C, which may hold anything, is read although beta is 0",
            "Where the sum is stored, ask whether beta is 0.",
            {}};
  return finding.none() ? calls.finding : finding;
}

} // namespace

std::span<const Case> cases_of(Machine machine) {
  if (machine == Machine::Gpu) return gpu_cases;
  return all_cases;
}

Mark mark(const Caller& call, std::span<const Case> cases, int threads) {
  Mark result;
  for (const Case& tried : cases) {
    const Calls made = call(tried, threads == 1 ? 1 : tried.shape.m == 192 ? 8 : tried.shape.m >= 64 ? 3 : 2);
    if (!made.output.empty()) result.output = made.output;
    result.finding = finding_of(call, tried, made);
    if (!result.finding.none()) {
      result.failed = &tried;
      return result;
    }
    ++result.right;
  }
  return result;
}

} // namespace tessera::lessons
