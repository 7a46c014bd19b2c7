#include "row_sums.hpp"

#include <cmath>
#include <limits>

#include "core/base/thread_team.hpp"

namespace tessera::solution {
namespace {

/// Adds a term to high + low.
inline void add(RowSum& sum, double term) {
  const double high = sum.high + term, part = high - sum.high;
  sum.low += (sum.high - (high - part)) + (term - part);
  sum.high = high;
}

} // namespace

TESSERA_WIDE_CLONES RowSum row_sum(const double* a, const double* x, Index n) {
  double high[sum_lanes] = {}, low[sum_lanes] = {}, magnitude[sum_lanes] = {};
  Index p = 0;
  for (; p + sum_lanes <= n; p += sum_lanes)
    for (Index l = 0; l < sum_lanes; ++l) {
      const compare::Pair pair = compare::add_product({high[l], low[l]}, a[p + l], x[p + l]);
      high[l] = pair.high;
      low[l] = pair.low;
      magnitude[l] = std::fma(std::abs(a[p + l]), std::abs(x[p + l]), magnitude[l]);
    }
  for (Index l = 0; p < n; ++p, ++l) {
    const compare::Pair pair = compare::add_product({high[l], low[l]}, a[p], x[p]);
    high[l] = pair.high;
    low[l] = pair.low;
    magnitude[l] = std::fma(std::abs(a[p]), std::abs(x[p]), magnitude[l]);
  }
  RowSum all;
  for (Index l = 0; l < sum_lanes; ++l) {
    add(all, high[l]);
    all.low += low[l];
    all.magnitude += magnitude[l];
  }
  return all;
}

Columns::Columns(const compare::ElementSource& x, int threads)
    : n_(x.rows), count_(x.cols), width_(count_ < compare::strip<double> / 2 ? 1 : compare::strip<double>) {
  const Index strips = (count_ + width_ - 1) / width_;
  data_.resize(static_cast<std::size_t>(n_ * strips * width_));
  largest_.resize(static_cast<std::size_t>(count_));
  detail::parallel_for(static_cast<std::size_t>(strips), threads, [&](std::size_t strip) {
    const Index j = static_cast<Index>(strip) * width_;
    double* const to = data_.data() + j * n_;
    for (Index q = 0; q < std::min(width_, count_ - j); ++q) {
      double& largest = largest_[static_cast<std::size_t>(j + q)];
      for (Index p = 0; p < n_; ++p) {
        const double element = compare::element_at<double>(x, p, j + q);
        to[p * width_ + q] = element;
        largest =
            std::isfinite(element) ? std::max(largest, std::abs(element)) : std::numeric_limits<double>::infinity();
        if (std::isinf(largest)) break;
      }
    }
  });
}

} // namespace tessera::solution
