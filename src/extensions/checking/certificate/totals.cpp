#include "totals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "extensions/checking/compare/add_errors.hpp"

namespace tessera::certificate {

void Totals::add_error(Index index, const GemmError& error, Index columns) {
  GemmError& all = certificate.error;
  compare::add_errors(all, error);
  all.max_over_bound = std::max(all.max_over_bound, error.max_over_bound);
  all.rows_compared += error.rows_compared;
  const double elements = static_cast<double>(error.rows_compared) * static_cast<double>(columns);
  sum_rel_ += error.mean_rel * elements;
  elements_ += elements;
  off_.add(error.norm_error);
  exact_.add(error.norm_exact);
  for (const WorstElement& element : error.worst) certificate.worst.push_back({index, element});
}

void Totals::add_row(Index index, Index row, double over) {
  if (over < 0) return;
  ++certificate.rows_judged;
  certificate.row_over_bound = std::max(certificate.row_over_bound, over);
  if (over > 1) certificate.rows_beyond.push_back({index, row, over});
}

void Totals::finish() {
  Certificate& all = certificate;
  all.error.rows = all.rows;
  all.error.norm_error = off_.value();
  all.error.norm_exact = exact_.value();
  all.error.mean_rel = elements_ > 0 ? sum_rel_ / elements_ : 0;
  const double norms = all.error.norm_error == 0 ? 0 : all.error.norm_error / all.error.norm_exact;
  all.error.normwise = all.error.misplaced > 0 ? std::numeric_limits<double>::infinity() : norms;
  std::stable_sort(all.worst.begin(), all.worst.end(), [](const CheckedElement& x, const CheckedElement& y) {
    return x.element.over_bound > y.element.over_bound;
  });
  if (all.worst.size() > worst_elements) all.worst.resize(worst_elements);
  if (!all.worst.empty()) {
    all.error.worst_row = all.worst.front().element.row;
    all.error.worst_col = all.worst.front().element.col;
    for (const CheckedElement& x : all.worst) all.error.worst.push_back(x.element);
  }
  all.probability_missed = all.rows_sampled == all.rows ? 0 : all.vectors > 0 ? std::ldexp(1.0, -all.vectors) : 1;
  const bool wrong = !all.error.within_bound() || !all.rows_beyond.empty();
  const bool nothing = elements_ > 0 && static_cast<double>(all.error.unjudged) == elements_ && all.rows_judged == 0;
  all.verdict = wrong ? Verdict::Wrong : nothing ? Verdict::Unknown : Verdict::Right;
}

} // namespace tessera::certificate
