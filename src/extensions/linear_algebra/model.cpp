#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/backend/kernel.hpp>

#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// Returns a − s, where s is the sum of x(k)·y(k) over k = 0 … terms − 1: cut into segments of canonical_segment, whose
/// sums are chains of multiply-adds from +0, and which are subtracted in ascending order.
template <class T, class X, class Y>
T less_sum(T a, Index terms, const X& x, const Y& y) {
  for (Index first = 0; first < terms; first += canonical_segment) {
    T chain = 0;
    for (Index k = first; k < std::min(terms, first + canonical_segment); ++k) chain = std::fma(x(k), y(k), chain);
    a -= chain;
  }
  return a;
}

template <class T>
Index factor_symmetric_by_formula(Index n, Grid<T> a) {
  const auto row = [&](Index i) { return [&a, i](Index k) { return a.at(i, k); }; };
  for (Index j = 0; j < n; ++j) {
    const T below_root = less_sum(a.at(j, j), j, row(j), row(j));
    if (!(below_root > 0)) return j;
    a.at(j, j) = std::sqrt(below_root);
    for (Index i = j + 1; i < n; ++i) a.at(i, j) = less_sum(a.at(i, j), j, row(i), row(j)) / a.at(j, j);
  }
  return n;
}

template <class T>
Index factor_by_formula(Index m, Index n, Grid<T> a, detail::RowNumbers pivots) {
  Index singular = -1;
  const auto row = [&](Index i) { return [&a, i](Index k) { return a.at(i, k); }; };
  const auto column = [&](Index j) { return [&a, j](Index k) { return a.at(k, j); }; };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) a.at(i, j) = less_sum(a.at(i, j), std::min(i, j), row(i), column(j));
    if (j >= m) continue;
    Index pivot = j;
    for (Index i = j + 1; i < m; ++i) {
      const T size = std::abs(a.at(i, j)), largest = std::abs(a.at(pivot, j));
      if (size > largest || (std::isnan(size) && !std::isnan(largest))) pivot = i;
    }
    pivots.set(j, pivot);
    for (Index c = 0; pivot != j && c < n; ++c) std::swap(a.at(j, c), a.at(pivot, c));
    if (a.at(j, j) == 0) {
      if (singular < 0) singular = j;
      continue;
    }
    for (Index i = j + 1; i < m; ++i) a.at(i, j) /= a.at(j, j);
  }
  return singular;
}

} // namespace

TESSERA_FLAT_FMA_CLONES Index model_cholesky(Index n, Grid<float> a) { return factor_symmetric_by_formula(n, a); }
TESSERA_FLAT_FMA_CLONES Index model_cholesky(Index n, Grid<double> a) { return factor_symmetric_by_formula(n, a); }

TESSERA_FLAT_FMA_CLONES Index model_lu(Index m, Index n, Grid<float> a, detail::RowNumbers pivots) {
  return factor_by_formula(m, n, a, pivots);
}
TESSERA_FLAT_FMA_CLONES Index model_lu(Index m, Index n, Grid<double> a, detail::RowNumbers pivots) {
  return factor_by_formula(m, n, a, pivots);
}

} // namespace tessera::linear_algebra
