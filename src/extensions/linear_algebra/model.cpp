#include "model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <utility>

#include <tessera/detail/emulated_matrix_unit.hpp>

#include "numbers.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::linear_algebra {
namespace {

/// Returns the sum of a whole segment in an emulated mode.
template <class X, class Y>
float emulated_chain(Index first, const X& x, const Y& y, Math math) {
  std::array<float, canonical_segment> a, b;
  for (Index k = 0; k < canonical_segment; ++k) {
    a[static_cast<std::size_t>(k)] = x(first + k);
    b[static_cast<std::size_t>(k)] = y(first + k);
  }
  return detail::hopper::emulated_sum(a, b, detail::hopper::emulation_of(math));
}

/// Returns a − s, where s is the sum of x(k)·y(k) over k = 0 … terms − 1: cut into segments, whose sums are chains of
/// multiply-adds from +0, and which are subtracted in ascending order.
template <class T, class X, class Y>
T less_sum(T a, Index terms, const X& x, const Y& y, [[maybe_unused]] Math math = Math::Strict) {
  for (Index first = 0; first < terms; first += segment_length<T>) {
    if constexpr (std::same_as<T, float>) {
      if (math != Math::Strict && first + segment_length<T> <= terms) { // the segment is whole
        a -= emulated_chain(first, x, y, math);
        continue;
      }
    }
    T chain = 0;
    for (Index k = first; k < std::min(terms, first + segment_length<T>); ++k) chain = multiply_add(x(k), y(k), chain);
    a -= chain;
  }
  return a;
}

/// Does less_sum() for column j in the rows from `begin` to `end`: of row i it takes the sum of a(i, k)·y(k). The
/// chains of eight rows run side by side, because a chain waits for each of its multiply-adds.
template <class T, class Y>
void subtract_sums(Grid<T>& a, Index begin, Index end, Index j, Index terms, const Y& y, Math math = Math::Strict) {
  constexpr Index together = 8;
  Index i = begin;
  for (; math == Math::Strict && i + together <= end; i += together)
    for (Index first = 0; first < terms; first += segment_length<T>) {
      std::array<T, together> chains{};
      for (Index k = first; k < std::min(terms, first + segment_length<T>); ++k) {
        const T factor = y(k);
        for (Index r = 0; r < together; ++r) {
          T& chain = chains[static_cast<std::size_t>(r)];
          chain = multiply_add(a.at(i + r, k), factor, chain);
        }
      }
      for (Index r = 0; r < together; ++r) a.at(i + r, j) -= chains[static_cast<std::size_t>(r)];
    }
  for (; i < end; ++i)
    a.at(i, j) = less_sum(
        a.at(i, j), terms, [&a, i](Index k) { return a.at(i, k); }, y, math);
}

template <class T>
Index factor_hermitian_by_formula(Index n, Grid<T> a) {
  const auto row = [&](Index i) { return [&a, i](Index k) { return a.at(i, k); }; };
  const auto conjugates = [&](Index i) { return [&a, i](Index k) { return conjugated_if(true, a.at(i, k)); }; };
  for (Index j = 0; j < n; ++j) {
    const Part<T> below_root = std::real(less_sum(a.at(j, j), j, row(j), conjugates(j)));
    if (!(below_root > 0)) return j;
    const Part<T> root = std::sqrt(below_root);
    a.at(j, j) = root;
    subtract_sums(a, j + 1, n, j, j, conjugates(j));
    for (Index i = j + 1; i < n; ++i) a.at(i, j) /= root;
  }
  return n;
}

template <class T>
Index factor_by_formula(Index m, Index n, Grid<T> a, detail::RowNumbers pivots, Math math) {
  Index singular = -1;
  const auto row = [&](Index i) { return [&a, i](Index k) { return a.at(i, k); }; };
  const auto column = [&](Index j) { return [&a, j](Index k) { return a.at(k, j); }; };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < std::min(m, j); ++i) a.at(i, j) = less_sum(a.at(i, j), i, row(i), column(j), math);
    subtract_sums(a, j, m, j, j, column(j), math);
    if (j >= m) continue;
    Index pivot = j;
    for (Index i = j + 1; i < m; ++i) {
      const Part<T> size = pivot_size(a.at(i, j)), largest = pivot_size(a.at(pivot, j));
      if (size > largest || (std::isnan(size) && !std::isnan(largest))) pivot = i;
    }
    pivots.set(j, pivot);
    for (Index c = 0; pivot != j && c < n; ++c) std::swap(a.at(j, c), a.at(pivot, c));
    if (a.at(j, j) == T(0)) {
      if (singular < 0) singular = j;
      continue;
    }
    const Divisor<T> divisor(a.at(j, j));
    for (Index i = j + 1; i < m; ++i) a.at(i, j) = divisor.divide(a.at(i, j));
  }
  return singular;
}

} // namespace

#define TESSERA_MODELS(T)                                                                                        \
  TESSERA_FLAT_FMA_CLONES Index model_cholesky(Index n, Grid<T> a) { return factor_hermitian_by_formula(n, a); } \
  TESSERA_FLAT_FMA_CLONES Index model_lu(Index m, Index n, Grid<T> a, detail::RowNumbers pivots, Math math) {    \
    return factor_by_formula(m, n, a, pivots, math);                                                             \
  }
TESSERA_MODELS(float)
TESSERA_MODELS(double)
TESSERA_MODELS(std::complex<float>)
TESSERA_MODELS(std::complex<double>)
#undef TESSERA_MODELS

} // namespace tessera::linear_algebra
