#include "verdict.hpp"

#include <fmt/format.h>

namespace tessera::compare_app {

std::string over_bound(const GemmError& error, const std::optional<FreivaldsResult>& freivalds) {
  const std::string place = fmt::format("C({}, {})", error.worst_row, error.worst_col);
  if (error.misplaced > 0)
    return fmt::format("{} elements are NaN or Inf and should not be, or should be and are not; one is {}",
                       error.misplaced, place);
  if (!error.within_bound())
    return fmt::format("the error of {} is {:.3g} times its bound", place, error.max_over_bound);
  if (freivalds && !freivalds->within_bound())
    return fmt::format("{:.3g} times the bound of row {} by Freivalds; the {} rows that were compared are right",
                       freivalds->max_over_bound, freivalds->worst_row, error.rows_compared);
  return {};
}

std::string coverage(const Result& result) {
  if (!result.error || result.error->rows_compared == result.error->rows) return {};
  std::string text = fmt::format("checked {} of {} rows", result.error->rows_compared, result.error->rows);
  if (!result.freivalds) return text;
  if (result.freivalds->complete()) return text + ", and all by Freivalds";
  return text +
         fmt::format(", and {} by Freivalds: NaN, Inf or overflow may reach the others", result.freivalds->rows_judged);
}

void set_verdict(Result& result, bool exact) {
  const GemmError& error = *result.error;
  const bool other_bits = result.canonical && error.differing_bits > 0;
  const bool inexact = exact && error.max_abs > 0;
  result.reason = over_bound(error, result.freivalds);
  result.verdict = result.reason.empty() && !inexact && !other_bits ? Verdict::Pass : Verdict::Wrong;
  if (!error.within_bound()) return;
  if (other_bits)
    result.reason = fmt::format("{} elements have not the bits of {}", error.differing_bits,
                                result.math == Math::Strict ? "the canonical product" : "the mode's contract");
  else if (inexact)
    result.reason =
        fmt::format("sums of these whole numbers are exact, but C({}, {}) differs", error.worst_row, error.worst_col);
  else if (result.verdict == Verdict::Pass)
    result.reason = coverage(result);
}

} // namespace tessera::compare_app
