#pragma once

/// Sums of a row of A with the columns of X, in twice double's precision, and the sums of magnitudes.

#include <algorithm>
#include <vector>

#include <tessera/types.hpp>

#include "extensions/checking/compare/accumulate.hpp"
#include "extensions/checking/compare/element_source.hpp"

namespace tessera::solution {

/// Chains of a sum along k, which are added at the end.
inline constexpr Index sum_lanes = 8;

/// Σa(p)·x(p), whose value is high + low but for the rounding of low, and Σ|a(p)||x(p)|.
struct RowSum {
  double high = 0, low = 0, magnitude = 0;
};

/// Sums n products of neighbours.
RowSum row_sum(const double* a, const double* x, Index n);

/// The columns of X, n×count, as sums read them: a few lie one after the other, many side by side in strips.
class Columns {
 public:
  Columns(const compare::ElementSource& x, int threads);

  /// Returns the largest magnitude of a column; Inf where an element is no number.
  double largest(Index col) const { return largest_[static_cast<std::size_t>(col)]; }

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
  Index n_, count_, width_;
  std::vector<double> data_, largest_;
};

} // namespace tessera::solution
