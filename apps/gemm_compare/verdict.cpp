#include "verdict.hpp"

#include <fmt/format.h>

namespace tessera::compare_app {

void set_verdict(Result& result, bool exact) {
  const GemmError& error = *result.error;
  const bool other_bits = result.canonical && error.differing_bits > 0;
  const bool inexact = exact && error.max_abs > 0;
  result.verdict = error.within_bound() && !inexact && !other_bits ? Verdict::Pass : Verdict::Wrong;
  const std::string place = fmt::format("at ({}, {})", error.worst_row, error.worst_col);
  if (error.misplaced > 0)
    result.reason = fmt::format("{} elements are NaN or Inf and should not be, or should be and are not; one is {}",
                                error.misplaced, place);
  else if (!error.within_bound())
    result.reason = fmt::format("{:.3g} times the bound {}", error.max_over_bound, place);
  else if (other_bits)
    result.reason = fmt::format("{} elements have not the bits of the canonical product", error.differing_bits);
  else if (inexact)
    result.reason = fmt::format("sums of these whole numbers are exact, but one differs {}", place);
  else if (error.rows_compared < error.rows)
    result.reason = fmt::format("checked {} of {} rows", error.rows_compared, error.rows);
  if (!result.freivalds || result.verdict != Verdict::Pass) return;
  const FreivaldsResult& whole = *result.freivalds;
  if (!whole.within_bound()) {
    result.verdict = Verdict::Wrong;
    result.reason =
        fmt::format("{:.3g} times the bound of row {} by Freivalds; the {} rows that were compared are right",
                    whole.max_over_bound, whole.worst_row, error.rows_compared);
  } else if (whole.complete()) {
    result.reason += ", and all by Freivalds";
  } else {
    result.reason += fmt::format(", and {} by Freivalds: NaN, Inf or overflow may reach the others", whole.rows_judged);
  }
}

} // namespace tessera::compare_app
