#include "marking.hpp"

#include <array>

#include "diagnosis.hpp"

namespace tessera::lessons {
namespace {

constexpr Op plain = Op::None, turned = Op::Transpose;

/// Each case has one difficulty that those before it do not have.
constexpr std::array all_cases{
    Case{.subject = "whole tiles", .m = 64, .n = 64, .k = 64},
    Case{.subject = "m, n and k differ", .m = 128, .n = 192, .k = 64},
    Case{.subject = "rows lie further apart than they are long", .m = 64, .n = 128, .k = 64, .pad = 8},
    Case{.subject = "alpha", .m = 64, .n = 64, .k = 64, .alpha = 2},
    Case{.subject = "beta", .m = 64, .n = 64, .k = 64, .beta = 3},
    Case{.subject = "alpha and beta", .m = 64, .n = 64, .k = 64, .pad = 8, .alpha = -2, .beta = 3},
    Case{.subject = "an m that no tile divides", .m = 67, .n = 64, .k = 64, .pad = 8},
    Case{.subject = "an n that no tile divides", .m = 64, .n = 69, .k = 64, .pad = 8},
    Case{.subject = "a k that no tile divides", .m = 64, .n = 64, .k = 61, .pad = 8},
    Case{.subject = "A transposed", .m = 64, .n = 128, .k = 64, .op_a = turned},
    Case{.subject = "B transposed", .m = 128, .n = 64, .k = 64, .op_b = turned},
    Case{.subject = "no size that a tile divides", .m = 37, .n = 45, .k = 29, .pad = 5, .alpha = 2, .beta = -1},
    Case{.subject = "both transposed, no size that a tile divides", .m = 37, .n = 45, .k = 29, .pad = 5, .op_a = turned,
         .op_b = turned},
    Case{.subject = "one element", .m = 1, .n = 1, .k = 1},
    Case{.subject = "few rows, many columns", .m = 3, .n = 257, .k = 130, .pad = 1},
    Case{.subject = "a long k", .m = 6, .n = 10, .k = 2100},
    Case{.subject = "threads side by side", .m = 192, .n = 192, .k = 128},
    Case{.subject = "f64", .m = 37, .n = 45, .k = 29, .pad = 5, .op_b = turned, .alpha = 2, .beta = 3, .type = DType::F64}};

/// The same difficulties, of which the lens has a result in a second. Rows lie as close as they can.
constexpr std::array gpu_cases{
    Case{.subject = "whole tiles", .m = 128, .n = 128, .k = 16},
    Case{.subject = "m, n and k differ", .m = 64, .n = 128, .k = 32},
    Case{.subject = "alpha", .m = 64, .n = 64, .k = 16, .alpha = 2},
    Case{.subject = "beta", .m = 64, .n = 64, .k = 16, .beta = 3},
    Case{.subject = "alpha and beta", .m = 64, .n = 64, .k = 16, .alpha = -2, .beta = 3},
    Case{.subject = "an m that no tile divides", .m = 67, .n = 64, .k = 32},
    Case{.subject = "an n that no tile divides", .m = 64, .n = 69, .k = 32},
    Case{.subject = "a k that no tile divides", .m = 64, .n = 64, .k = 77},
    Case{.subject = "A transposed", .m = 64, .n = 96, .k = 32, .op_a = turned},
    Case{.subject = "B transposed", .m = 96, .n = 64, .k = 32, .op_b = turned},
    Case{.subject = "no size that a tile divides", .m = 37, .n = 45, .k = 29, .alpha = 2, .beta = -1},
    Case{.subject = "both transposed, no size that a tile divides", .m = 37, .n = 45, .k = 29, .op_a = turned,
         .op_b = turned},
    Case{.subject = "one element", .m = 1, .n = 1, .k = 1},
    Case{.subject = "few rows, many columns", .m = 3, .n = 257, .k = 21},
    Case{.subject = "a long k", .m = 3, .n = 5, .k = 1100},
    Case{.subject = "f64", .m = 37, .n = 45, .k = 29, .op_b = turned, .alpha = 2, .beta = 3, .type = DType::F64}};

/// Does the kernel read C although beta is 0? Then C is NaN, and is right as soon as C holds numbers.
bool reads_c(const Caller& call, Case tried) {
  tried.beta = 1;
  const Calls calls = call(tried, 1);
  return !calls.seen.empty() && diagnose(calls.seen.front()).mistake != Mistake::NotANumber;
}

Finding finding_of(const Caller& call, const Case& tried, const Calls& calls) {
  const Mistake around = calls.finding.mistake;
  const bool comes_first = around == Mistake::WritesOutside || around == Mistake::ReadsOutside || around == Mistake::Race ||
                           around == Mistake::BarrierInBranch || around == Mistake::Uninitialised;
  if (calls.seen.empty() || comes_first) return calls.finding;
  for (std::size_t other = 1; other < calls.seen.size(); ++other)
    if (Finding differs = diagnose_difference(calls.seen.front(), calls.seen[other]); !differs.none()) return differs;
  Finding finding = diagnose(calls.seen.front());
  if (finding.mistake == Mistake::NotANumber && tried.beta == 0 && reads_c(call, tried))
    return {Mistake::ReadsC, "C is NaN: the old C, which may hold anything, is read although beta is 0",
            "Where the sum is stored, ask whether beta is 0.", {}};
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
    const Calls made = call(tried, threads == 1 ? 1 : tried.m == 192 ? 8 : tried.m >= 64 ? 3 : 2);
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
