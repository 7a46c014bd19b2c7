#include "residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/thread_team.hpp"
#include "row_sums.hpp"

namespace tessera::solution {
namespace {

constexpr Index rows_per_block = 16, most_tasks = 256;
constexpr double u = 0x1p-53;
constexpr double infinity = std::numeric_limits<double>::infinity();

Enclosure larger(const Enclosure& x, const Enclosure& y) {
  return {std::max(x.least, y.least), std::max(x.most, y.most)};
}

/// Encloses x / y. The quotients' own roundings are within the last factors.
Enclosure quotient(const Enclosure& x, const Enclosure& y) {
  if (x.most == 0) return {};
  return {x.least / y.most * (1 - 2 * u), y.least > 0 ? x.most / y.least * (1 + 2 * u) : infinity};
}

/// The errors of sums of n products and one number more. The terms of order u³ are within the rounded-up factors.
class Errors {
 public:
  explicit Errors(Index n)
      : terms_(static_cast<double>(n + sum_lanes) + 3), tiny_(terms_ * std::numeric_limits<double>::denorm_min()) {}

  /// Encloses a sum of magnitudes that one chain of additions has computed.
  Enclosure magnitude_sum(double computed) const {
    const double error = 1.01 * terms_ * u;
    return {std::max(0.0, computed * (1 - error) - tiny_), computed * (1 + error) + tiny_};
  }
  /// Encloses the magnitude of a sum whose errors were added up beside it and added at the end. `magnitudes` is the sum
  /// of the terms' magnitudes.
  Enclosure corrected_sum(double computed, double magnitudes) const {
    const double error = 3 * (terms_ * u) * (terms_ * u) * magnitudes + tiny_, size = std::abs(computed);
    return {std::max(0.0, size * (1 - 2 * u) - error), size * (1 + 2 * u) + error};
  }

 private:
  double terms_, tiny_;
};

/// What some rows contribute.
struct Rows {
  Residuals found;
  double largest_sum = 0;            ///< of Σ|a|; Inf where an element of A is no number
  std::vector<Enclosure> magnitudes; ///< of each column, the largest
  std::vector<Enclosure> ratios;     ///< likewise
  std::vector<double> largest_b;     ///< of each column; Inf where an element of B is no number
};

class RowTask {
 public:
  RowTask(const System& system, const Columns& x, Rows& rows)
      : system_(system), x_(x), errors_(system.n()), rows_(rows) {
    rows_.magnitudes.resize(static_cast<std::size_t>(system.count()));
    rows_.ratios.resize(rows_.magnitudes.size());
    rows_.largest_b.resize(static_cast<std::size_t>(system.count()));
  }

  void add(Index row, const double* a) {
    double sum = 0;
    for (Index p = 0; p < system_.n(); ++p) sum += std::abs(a[p]);
    const bool is_finite = std::all_of(a, a + system_.n(), [](double element) { return std::isfinite(element); });
    rows_.largest_sum = std::max(rows_.largest_sum, is_finite ? sum : infinity);
    x_.sums_with(a, [&](Index j, const RowSum& one) { judge(row, j, is_finite, one); });
  }

 private:
  void judge(Index row, Index j, bool row_is_finite, const RowSum& sum) {
    const auto at = static_cast<std::size_t>(j);
    const double b = compare::element_at<double>(system_.b, row, j);
    rows_.largest_b[at] = std::isfinite(b) ? std::max(rows_.largest_b[at], std::abs(b)) : infinity;
    Residuals& found = rows_.found;
    if (!row_is_finite || !std::isfinite(b)) {
      ++found.unjudged;
      return;
    }
    if (!std::isfinite(x_.largest(j))) {
      found.is_misplaced = true;
      rows_.ratios[at] = {infinity, infinity};
      found.worst = {.row = row, .col = j, .value = infinity, .scale = infinity, .ratio = {infinity, infinity}};
      return;
    }
    const double high = b - sum.high, part = high - b;
    const double error = (b - (high - part)) - (sum.high + part);
    const double value = high + (error - sum.low), scale = sum.magnitude + std::abs(b);
    if (!std::isfinite(value) || !std::isfinite(scale)) {
      ++found.unjudged;
      return;
    }
    const Enclosure scales = errors_.magnitude_sum(scale);
    Residual one{.row = row, .col = j, .value = value, .scale = scale};
    if (scale > 0) one.magnitude = errors_.corrected_sum(value, scales.most);
    one.ratio = quotient(one.magnitude, scales);
    rows_.magnitudes[at] = larger(rows_.magnitudes[at], one.magnitude);
    rows_.ratios[at] = larger(rows_.ratios[at], one.ratio);
    if (value != 0 && std::abs(value) / scale > std::abs(found.worst.value) / std::max(found.worst.scale, 0x1p-1074))
      found.worst = one;
  }

  const System& system_;
  const Columns& x_;
  const Errors errors_;
  Rows& rows_;
};

/// Returns the largest of all columns' |b − A·x| over ‖A‖‖x‖ + ‖b‖; nothing where that is no number.
void add_norms(Residuals& all, const System& system, const Columns& x, const std::vector<Rows>& parts) {
  const Errors errors(system.n());
  double norm_a = 0;
  for (const Rows& part : parts) norm_a = std::max(norm_a, part.largest_sum);
  for (Index j = 0; j < system.count(); ++j) {
    Enclosure magnitude;
    double norm_b = 0;
    for (const Rows& part : parts) {
      magnitude = larger(magnitude, part.magnitudes[static_cast<std::size_t>(j)]);
      norm_b = std::max(norm_b, part.largest_b[static_cast<std::size_t>(j)]);
    }
    const double scale = norm_a * x.largest(j) + norm_b;
    if (!std::isfinite(scale))
      all.norm_known = false;
    else
      all.norm_ratio = larger(all.norm_ratio, quotient(magnitude, errors.magnitude_sum(scale)));
  }
}

} // namespace

Residuals residuals_of(const System& system, int threads) {
  const Index n = system.n();
  const Columns x(system.x, threads);
  const Index rows = std::max(rows_per_block, (n + most_tasks - 1) / most_tasks);
  std::vector<Rows> parts(static_cast<std::size_t>((n + rows - 1) / rows));
  detail::parallel_for(parts.size(), threads, [&](std::size_t part) {
    const Index begin = static_cast<Index>(part) * rows, end = std::min(n, begin + rows);
    std::vector<double> buffer(compare::is_native<double>(system.a) ? 0 : static_cast<std::size_t>(rows_per_block * n));
    RowTask task(system, x, parts[part]);
    for (Index i = begin; i < end; i += rows_per_block) {
      const Index count = std::min(rows_per_block, end - i);
      const compare::Block<double> block = compare::read_block<double>(system.a, i, count, 0, n, buffer.data());
      for (Index r = 0; r < count; ++r) task.add(i + r, block.data + r * block.ld);
    }
  });
  Residuals all;
  all.by_column.resize(static_cast<std::size_t>(system.count()));
  for (const Rows& part : parts) {
    const Residuals& one = part.found;
    if (one.worst.row >= 0 && (all.worst.row < 0 || one.worst.ratio.least > all.worst.ratio.least))
      all.worst = one.worst;
    for (std::size_t j = 0; j < all.by_column.size(); ++j) all.by_column[j] = larger(all.by_column[j], part.ratios[j]);
    all.unjudged += one.unjudged;
    all.is_misplaced |= one.is_misplaced;
  }
  for (const Enclosure& column : all.by_column) all.ratio = larger(all.ratio, column);
  if (all.is_misplaced)
    all.norm_ratio = {infinity, infinity};
  else
    add_norms(all, system, x, parts);
  return all;
}

} // namespace tessera::solution
