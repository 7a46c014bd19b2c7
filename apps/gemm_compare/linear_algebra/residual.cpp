#include "residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

namespace tessera::compare_app {
namespace {

/// The types in which the residual's sums lose nothing that the bounds could see: of magnitudes, and of numbers.
template <class T>
using WidePart = std::conditional_t<sizeof(Part<T>) == sizeof(float), double, long double>;
template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<WidePart<T>>, WidePart<T>>;

template <class T>
Wide<T> wide(T x) {
  return static_cast<Wide<T>>(x);
}

constexpr Index rows_compared = 8;

template <class T>
class Comparison {
 public:
  Comparison(const SystemData<T>& data, SystemWork<T>& work)
      : n_(data.n),
        count_(data.count),
        a_{const_cast<T*>(data.a.data()), data.n, 1},
        b_{const_cast<T*>(data.b.data()), data.count, 1},
        factors_(work.matrix(data.n)),
        tau_(work.tau),
        x_(work.right(data.n, data.count)) {
    error_.rows = n_;
  }

  GemmError run(SystemKind kind, const std::vector<Index>& pivots) {
    std::vector<Index> permutation(static_cast<std::size_t>(n_));
    std::iota(permutation.begin(), permutation.end(), Index{0});
    if (kind == SystemKind::Getrf || kind == SystemKind::Gesv)
      for (std::size_t j = 0; j < pivots.size(); ++j)
        std::swap(permutation[j], permutation[static_cast<std::size_t>(pivots[j])]);
    if (kind == SystemKind::Geqrf)
      compare_columns();
    else if (kind == SystemKind::Posv || kind == SystemKind::Gesv)
      compare_solution(kind == SystemKind::Posv, permutation);
    else
      compare_rows(kind, permutation);
    if (judged_ > 0) error_.mean_rel /= static_cast<double>(judged_);
    return error_;
  }

 private:
  /// Terms that are added up: a residual, and what it is measured by.
  struct Sum {
    Wide<T> rest = 0;
    WidePart<T> size = 0;
    void subtract(T x, T y) {
      rest -= wide(x) * wide(y);
      size += std::abs(wide(x)) * std::abs(wide(y));
    }
  };

  /// Rows, or columns, that are drawn at random.
  std::vector<Index> sample() const {
    std::mt19937_64 random(1);
    std::vector<Index> places;
    for (Index r = 0; r < std::min(rows_compared, n_); ++r)
      places.push_back(n_ <= rows_compared ? r : static_cast<Index>(random() % static_cast<std::uint64_t>(n_)));
    return places;
  }

  /// ‖a − Q·r‖ ≤ n·γ(6n + 12)·‖a‖ for columns a of A and r of R: each of n reflections is applied with such an error,
  /// and of complex numbers with four times that.
  void compare_columns() {
    const std::vector<Index> columns = sample();
    error_.rows_compared = static_cast<Index>(columns.size());
    std::vector<Wide<T>> c(static_cast<std::size_t>(n_));
    for (const Index j : columns) {
      for (Index i = 0; i < n_; ++i) c[static_cast<std::size_t>(i)] = i <= j ? wide(factors_(i, j)) : Wide<T>(0);
      for (Index k = std::min(j, n_ - 1); k >= 0; --k) reflect(k, c);
      WidePart<T> off_squares = 0, squares = 0;
      for (Index i = 0; i < n_; ++i) {
        const Wide<T> a = wide(a_(i, j));
        off_squares += std::norm(a - c[static_cast<std::size_t>(i)]);
        squares += std::norm(a);
      }
      constexpr Index of_complex = is_complex<T> ? 4 : 1;
      judge(0, j, std::sqrt(off_squares), std::sqrt(squares), static_cast<double>(of_complex * n_ * (6 * n_ + 12)));
    }
  }

  /// Applies reflection k to a column.
  void reflect(Index k, std::vector<Wide<T>>& c) const {
    Wide<T> w = c[static_cast<std::size_t>(k)];
    for (Index i = k + 1; i < n_; ++i) w += conjugate(wide(factors_(i, k))) * c[static_cast<std::size_t>(i)];
    w *= wide(tau_[static_cast<std::size_t>(k)]);
    c[static_cast<std::size_t>(k)] -= w;
    for (Index i = k + 1; i < n_; ++i) c[static_cast<std::size_t>(i)] -= wide(factors_(i, k)) * w;
  }

  void compare_rows(SystemKind kind, const std::vector<Index>& permutation) {
    const std::vector<Index> rows = sample();
    error_.rows_compared = static_cast<Index>(rows.size());
    for (const Index i : rows) {
      const Index cols = kind == SystemKind::Trsm ? count_ : kind == SystemKind::Getrf ? n_ : i + 1;
      for (Index j = 0; j < cols; ++j) judge(i, j, sum_at(kind, i, j, permutation[static_cast<std::size_t>(i)]), 1);
    }
  }

  Sum sum_at(SystemKind kind, Index i, Index j, Index row_of_a) const {
    Sum sum;
    switch (kind) {
      case SystemKind::Syrk:
      case SystemKind::Herk:
        sum.rest = wide(factors_(i, j));
        for (Index k = 0; k < n_; ++k)
          sum.subtract(a_(i, k), kind == SystemKind::Herk ? conjugate(a_(j, k)) : a_(j, k));
        break;
      case SystemKind::Trsm:
        sum.rest = wide(b_(i, j));
        for (Index k = 0; k <= i; ++k) sum.subtract(a_(i, k), x_(k, j));
        break;
      case SystemKind::Potrf:
        sum.rest = wide(a_(i, j));
        for (Index k = 0; k <= j; ++k) sum.subtract(factors_(i, k), conjugate(factors_(j, k)));
        break;
      default:
        sum.rest = wide(a_(row_of_a, j));
        for (Index k = 0; k < std::min(i, j + 1); ++k) sum.subtract(factors_(i, k), factors_(k, j));
        if (i <= j) sum.subtract(T(1), factors_(i, j));
    }
    return sum;
  }

  /// |b − A·x| ≤ γ(3n + 1)·|L||U||x|, rows as the factors have them.
  void compare_solution(bool is_positive, const std::vector<Index>& permutation) {
    error_.rows_compared = n_;
    std::vector<WidePart<T>> part(static_cast<std::size_t>(n_));
    for (Index k = 0; k < n_; ++k)
      for (Index j = k; j < n_; ++j)
        part[static_cast<std::size_t>(k)] +=
            std::abs(wide(is_positive ? factors_(j, k) : factors_(k, j))) * std::abs(wide(x_(j, 0)));
    for (Index i = 0; i < n_; ++i) {
      const Index row = permutation[static_cast<std::size_t>(i)];
      Sum sum;
      sum.rest = wide(b_(row, 0));
      for (Index j = 0; j < n_; ++j) sum.subtract(a_(row, j), x_(j, 0));
      sum.size = is_positive ? 0 : part[static_cast<std::size_t>(i)];
      for (Index k = 0; k < (is_positive ? i + 1 : i); ++k)
        sum.size += std::abs(wide(factors_(i, k))) * part[static_cast<std::size_t>(k)];
      judge(i, 0, sum, 3);
    }
  }

  /// Judges a residual that `factors` sums of n terms, one after the other, have made. Each has n + 1 roundings, or n
  /// alone after the first. A part of a complex sum is one of 2n real products, and a quotient has eight roundings;
  /// both parts together are off by √2 times as much.
  void judge(Index i, Index j, const Sum& sum, Index factors) {
    constexpr Index of_quotient = 8;
    const auto roundings = static_cast<double>(is_complex<T> ? factors * (2 * n_ + of_quotient) : factors * n_ + 1);
    judge(i, j, std::abs(sum.rest), sum.size, roundings);
  }
  void judge(Index i, Index j, WidePart<T> rest, WidePart<T> measure, double roundings) {
    const auto off = static_cast<double>(rest), size = static_cast<double>(measure);
    if (!std::isfinite(off) || !std::isfinite(size)) {
      ++error_.misplaced;
      ++error_.beyond;
      return;
    }
    constexpr double parts = is_complex<T> ? std::numbers::sqrt2 : 1;
    const double nu = roundings * std::numeric_limits<Part<T>>::epsilon() / 2;
    const double bound = nu < 0.5 ? parts * nu / (1 - nu) * size : size, over = off == 0 ? 0 : off / bound;
    const double relative = size > 0 ? off / size : 0;
    ++judged_;
    error_.mean_rel += relative;
    error_.max_rel = std::max(error_.max_rel, relative);
    error_.total_abs += off;
    error_.max_abs = std::max(error_.max_abs, off);
    error_.beyond += over > 1 ? 1 : 0;
    if (over <= error_.max_over_bound) return;
    error_.max_over_bound = over;
    error_.worst_row = i;
    error_.worst_col = j;
  }

  const Index n_, count_;
  const Strided<T> a_, b_, factors_;
  const std::vector<T>& tau_;
  const Strided<T> x_;
  GemmError error_;
  Index judged_ = 0; ///< elements
};

} // namespace

template <class T>
GemmError residual_of(const SystemOperation& operation, const SystemData<T>& data, SystemWork<T>& work) {
  return Comparison<T>(data, work).run(operation.kind, work.pivots);
}

template <class T>
std::vector<T> outcome_of(const SystemOperation& operation, const SystemData<T>& data, SystemWork<T>& work) {
  const bool is_triangle =
      operation.kind == SystemKind::Syrk || operation.kind == SystemKind::Herk || operation.kind == SystemKind::Potrf;
  const bool is_factors = is_triangle || operation.kind == SystemKind::Getrf || operation.kind == SystemKind::Geqrf;
  const Strided<T> from = is_factors ? work.matrix(data.n) : work.right(data.n, data.count);
  std::vector<T> elements;
  for (Index i = 0; i < data.n; ++i)
    for (Index j = 0; j < (is_triangle ? i + 1 : is_factors ? data.n : data.count); ++j) elements.push_back(from(i, j));
  return elements;
}

template GemmError residual_of(const SystemOperation&, const SystemData<float>&, SystemWork<float>&);
template GemmError residual_of(const SystemOperation&, const SystemData<double>&, SystemWork<double>&);
template GemmError residual_of(const SystemOperation&, const SystemData<std::complex<float>>&,
                               SystemWork<std::complex<float>>&);
template GemmError residual_of(const SystemOperation&, const SystemData<std::complex<double>>&,
                               SystemWork<std::complex<double>>&);
template std::vector<float> outcome_of(const SystemOperation&, const SystemData<float>&, SystemWork<float>&);
template std::vector<double> outcome_of(const SystemOperation&, const SystemData<double>&, SystemWork<double>&);
template std::vector<std::complex<float>> outcome_of(const SystemOperation&, const SystemData<std::complex<float>>&,
                                                     SystemWork<std::complex<float>>&);
template std::vector<std::complex<double>> outcome_of(const SystemOperation&, const SystemData<std::complex<double>>&,
                                                      SystemWork<std::complex<double>>&);

} // namespace tessera::compare_app
