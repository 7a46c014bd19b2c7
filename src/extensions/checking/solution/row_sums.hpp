#pragma once

/// Sums of a row of A with the columns of X, in twice double's precision, and the sums of magnitudes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <tessera/types.hpp>

#include "core/base/thread_team.hpp"
#include "extensions/checking/compare/accumulate.hpp"

namespace tessera::solution {

/// Chains of a sum along k, which are added at the end.
inline constexpr Index sum_lanes = 8;

/// Σa(p)·x(p), whose value is high + low but for the rounding of low, and Σ|a(p)||x(p)|.
struct RowSum {
  double high = 0, low = 0, magnitude = 0;
};

/// Sums n products of neighbours.
RowSum row_sum(const double* a, const double* x, Index n);

/// `count` columns of n numbers as sums read them: a few lie one after the other, many side by side in strips.
class Columns {
 public:
  /// `element` returns number p of column j.
  template <class Element>
  Columns(Index n, Index count, int threads, const Element& element)
      : n_(n), count_(count), width_(count < compare::strip<double> / 2 ? 1 : compare::strip<double>) {
    const Index strips = (count_ + width_ - 1) / width_;
    data_.resize(static_cast<std::size_t>(n_ * strips * width_));
    largest_.resize(static_cast<std::size_t>(count_));
    detail::parallel_for(static_cast<std::size_t>(strips), threads, [&](std::size_t strip) {
      const Index first = static_cast<Index>(strip) * width_;
      for (Index j = first; j < std::min(first + width_, count_); ++j) read(j, element);
    });
  }

  /// Returns the largest magnitude of a column; Inf where an element is no number.
  double largest(Index col) const { return largest_[static_cast<std::size_t>(col)]; }

  /// Has row `a` a number other than 0 where column j has one?
  bool meets(const double* a, Index j) const {
    const double* const x = data_.data() + begin(j);
    for (Index p = 0; p < n_; ++p)
      if (a[p] != 0 && x[p * width_] != 0) return true;
    return false;
  }

  /// Calls take(j, sum) for each column j with its sum with a row of A.
  template <class Take>
  void sums_with(const double* a, const Take& take) const {
    if (width_ == 1) {
      for (Index j = 0; j < count_; ++j) take(j, row_sum(a, data_.data() + j * n_, n_));
      return;
    }
    for (Index j = 0; j < count_; j += width_) {
      compare::StripSums<double> sums{};
      compare::accumulate(a, data_.data() + j * n_, n_, sums);
      for (Index q = 0; q < std::min(width_, count_ - j); ++q)
        take(j + q, RowSum{sums.high[q], sums.low[q], sums.magnitude[q]});
    }
  }

 private:
  /// Where the first number of column j lies; from one to the next it is `width_`.
  Index begin(Index j) const { return j / width_ * width_ * n_ + j % width_; }
  template <class Element>
  void read(Index j, const Element& element) {
    double& largest = largest_[static_cast<std::size_t>(j)];
    double* const to = data_.data() + begin(j);
    for (Index p = 0; p < n_; ++p) {
      const double value = element(p, j);
      to[p * width_] = value;
      largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : std::numeric_limits<double>::infinity();
      if (std::isinf(largest)) break;
    }
  }

  Index n_, count_, width_;
  std::vector<double> data_, largest_;
};

} // namespace tessera::solution
