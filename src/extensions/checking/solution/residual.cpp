#include "residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/thread_team.hpp"
#include "enclosures.hpp"
#include "row_sums.hpp"

namespace tessera::solution {
namespace {

constexpr Index rows_per_block = 16, most_tasks = 256;
/// A product of two moduli has four roundings and a little more in them, and a norm as many.
constexpr Index roundings_of_moduli = 5;

/// What some rows contribute.
struct Rows {
  Residuals found;
  double largest_sum = 0;            ///< of Σ|a|; Inf where an element of A is no number
  std::vector<Enclosure> magnitudes; ///< of each column, the largest
  std::vector<Enclosure> ratios;     ///< likewise
  std::vector<double> largest_b;     ///< of each column; Inf where an element of B is no number
};

/// X as the sums of a system read it. Of complex numbers these are the parts one after the other, and the moduli.
struct Unknowns {
  Unknowns(const System& system, int threads)
      : numbers(system.is_complex() ? 2 * system.n() : system.n(), system.count(), threads,
                [&](Index p, Index j) {
                  if (!system.is_complex()) return compare::element_at<double>(system.x.real(), p, j);
                  const Parts x = system.x.at(p / 2, j);
                  return p % 2 == 0 ? x.re : x.im;
                }),
        moduli(system.is_complex() ? system.n() : 0, system.count(), threads, [&](Index p, Index j) {
          const Parts x = system.x.at(p, j);
          return modulus(x.re, x.im);
        }) {}

  Columns numbers, moduli;
};

/// A row of A as the sums read it: for the real part of a product, for its imaginary part, and the moduli. A real row
/// is all of them.
struct RowOfA {
  const double *re, *im, *moduli;
};

class RowTask {
 public:
  RowTask(const System& system, const Unknowns& x, Rows& rows)
      : system_(system),
        x_(x),
        parts_(system.is_complex() ? 2 : 1),
        errors_(parts_ * system.n()),
        errors_of_moduli_(system.n(), roundings_of_moduli),
        rows_(rows) {
    const auto count = static_cast<std::size_t>(system.count());
    rows_.magnitudes.resize(count);
    rows_.ratios.resize(count);
    rows_.largest_b.resize(count);
    for (std::vector<RowSum>& part : sums_) part.resize(count);
  }

  void add(Index row, const RowOfA& a) {
    double sum = 0;
    for (Index p = 0; p < system_.n(); ++p) sum += std::abs(a.moduli[p]);
    const Index numbers = parts_ * system_.n();
    const bool is_finite = std::all_of(a.re, a.re + numbers, [](double element) { return std::isfinite(element); });
    rows_.largest_sum = std::max(rows_.largest_sum, is_finite ? sum : infinite);
    const auto add_up = [&](const Columns& x, const double* from, std::vector<RowSum>& to) {
      x.sums_with(from, [&](Index j, const RowSum& one) { to[static_cast<std::size_t>(j)] = one; });
    };
    add_up(x_.numbers, a.re, sums_[0]);
    if (system_.is_complex()) {
      add_up(x_.numbers, a.im, sums_[1]);
      add_up(x_.moduli, a.moduli, sums_[2]);
    }
    for (Index j = 0; j < system_.count(); ++j) judge(row, j, is_finite, sum, a);
  }

 private:
  /// b − sum of a part.
  struct Difference {
    double value, scale;
  };
  static Difference difference(double b, const RowSum& sum) {
    const double high = b - sum.high, part = high - b;
    const double error = (b - (high - part)) - (sum.high + part);
    return {high + (error - sum.low), sum.magnitude + std::abs(b)};
  }

  void judge(Index row, Index j, bool row_is_finite, double row_sum, const RowOfA& a) {
    const auto at = static_cast<std::size_t>(j);
    const Parts b = system_.b.at(row, j);
    const bool b_is_finite = std::isfinite(b.re) && std::isfinite(b.im);
    const double size_of_b = system_.is_complex() ? modulus(b.re, b.im) : std::abs(b.re);
    rows_.largest_b[at] = b_is_finite ? std::max(rows_.largest_b[at], size_of_b) : infinite;
    Residuals& found = rows_.found;
    if (!row_is_finite || !b_is_finite) {
      ++found.unjudged;
      return;
    }
    if (!std::isfinite(x_.numbers.largest(j))) {
      found.is_misplaced = true;
      rows_.ratios[at] = {infinite, infinite};
      found.worst = {.row = row, .col = j, .value = infinite, .scale = infinite, .ratio = {infinite, infinite}};
      return;
    }
    const Difference re = difference(b.re, sums_[0][at]);
    Residual one{.row = row, .col = j, .value = re.value, .scale = re.scale};
    Enclosure scales;
    if (system_.is_complex()) {
      const Difference im = difference(b.im, sums_[1][at]);
      one.value = modulus(re.value, im.value);
      one.scale = sums_[2][at].magnitude + size_of_b;
      const double lost = Errors::lost_moduli(system_.n(), row_sum, x_.moduli.largest(j));
      scales = errors_of_moduli_.magnitude_sum(one.scale, lost);
      one.magnitude = modulus(enclosed(re), enclosed(im));
    } else {
      scales = errors_.magnitude_sum(one.scale);
      one.magnitude = errors_.corrected_sum(one.value, scales.most);
    }
    if (!std::isfinite(one.value) || !std::isfinite(one.scale) || !std::isfinite(one.magnitude.most)) {
      ++found.unjudged;
      return;
    }
    if (one.scale == 0)
      one.magnitude = x_.numbers.meets(a.re, j) || meets_imaginary(a, j) ? errors_.vanished() : Enclosure{};
    one.ratio = quotient(one.magnitude, scales);
    rows_.magnitudes[at] = larger(rows_.magnitudes[at], one.magnitude);
    rows_.ratios[at] = larger(rows_.ratios[at], one.ratio);
    const auto share = [](const Residual& x) { return std::abs(x.value) / std::max(x.scale, smallest); };
    if (one.value != 0 && share(one) > share(found.worst)) found.worst = one;
  }

  Enclosure enclosed(const Difference& part) const {
    return errors_.corrected_sum(part.value, errors_.magnitude_sum(part.scale).most);
  }
  bool meets_imaginary(const RowOfA& a, Index j) const { return system_.is_complex() && x_.numbers.meets(a.im, j); }

  const System& system_;
  const Unknowns& x_;
  const Index parts_;
  const Errors errors_, errors_of_moduli_;
  Rows& rows_;
  std::array<std::vector<RowSum>, 3> sums_;
};

/// Reads rows of A for the sums.
class RowReader {
 public:
  explicit RowReader(const System& system) : system_(system), n_(system.n()) {
    const auto block = static_cast<std::size_t>(rows_per_block * n_);
    if (system.is_complex())
      for (std::vector<double>& numbers : turned_) numbers.resize(static_cast<std::size_t>(2 * n_));
    if (system.is_complex() || !compare::is_native<double>(system.a.real())) re_.resize(block);
    if (!system.is_complex()) return;
    im_.resize(block);
    moduli_.resize(static_cast<std::size_t>(n_));
  }

  /// Calls take(row, its numbers) for `count` rows, at most a block, from `first` on.
  template <class Take>
  void read(Index first, Index count, const Take& take) {
    const Operand& a = system_.a;
    const compare::Block<double> re = compare::read_block<double>(a.real(), first, count, 0, n_, re_.data());
    compare::Block<double> im{};
    if (a.is_complex()) im = compare::read_block<double>(a.imaginary(), first, count, 0, n_, im_.data());
    for (Index r = 0; r < count; ++r) {
      const double* const row = re.data + r * re.ld;
      if (!system_.is_complex())
        take(first + r, RowOfA{row, nullptr, row});
      else
        take(first + r, turned(row, a.is_complex() ? im.data + r * im.ld : nullptr));
    }
  }

 private:
  /// Re a·x is the sum of (re a, −im a) times X's parts, and Im a·x the one of (im a, re a).
  RowOfA turned(const double* re, const double* im) {
    for (Index p = 0; p < n_; ++p) {
      const double x = re[p], y = im != nullptr ? system_.a.sign() * im[p] : 0;
      const auto at = static_cast<std::size_t>(2 * p);
      turned_[0][at] = x;
      turned_[0][at + 1] = -y;
      turned_[1][at] = y;
      turned_[1][at + 1] = x;
      moduli_[static_cast<std::size_t>(p)] = modulus(x, y);
    }
    return {turned_[0].data(), turned_[1].data(), moduli_.data()};
  }

  const System& system_;
  const Index n_;
  std::vector<double> re_, im_, moduli_;
  std::array<std::vector<double>, 2> turned_;
};

/// Returns the largest of all columns' |b − A·x| over ‖A‖‖x‖ + ‖b‖; nothing where that is no number.
void add_norms(Residuals& all, const System& system, const Unknowns& unknowns, const std::vector<Rows>& parts) {
  const Errors errors(system.n(), system.is_complex() ? roundings_of_moduli : 0);
  const Columns& x = system.is_complex() ? unknowns.moduli : unknowns.numbers;
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
    const double lost = system.is_complex() ? Errors::lost_moduli(system.n(), norm_a, x.largest(j)) : 0;
    all.norm_known = all.norm_known && std::isfinite(scale);
    const Enclosure ratio =
        std::isfinite(scale) ? quotient(magnitude, errors.magnitude_sum(scale, lost)) : Enclosure{0, infinite};
    all.norm_ratio = larger(all.norm_ratio, ratio);
  }
}

} // namespace

Residuals residuals_of(const System& system, int threads) {
  const Index n = system.n();
  const Unknowns x(system, threads);
  const Index rows = std::max(rows_per_block, (n + most_tasks - 1) / most_tasks);
  std::vector<Rows> parts(static_cast<std::size_t>((n + rows - 1) / rows));
  detail::parallel_for(parts.size(), threads, [&](std::size_t part) {
    const Index begin = static_cast<Index>(part) * rows, end = std::min(n, begin + rows);
    RowReader reader(system);
    RowTask task(system, x, parts[part]);
    for (Index i = begin; i < end; i += rows_per_block)
      reader.read(i, std::min(rows_per_block, end - i), [&](Index row, const RowOfA& a) { task.add(row, a); });
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
    all.norm_ratio = {infinite, infinite};
  else
    add_norms(all, system, x, parts);
  return all;
}

} // namespace tessera::solution
