#include "row_sums.hpp"

#include <cmath>

#include "extensions/checking/compare/accumulate.hpp"

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

} // namespace tessera::solution
