/// Cholesky's factorisation: panels within a segment look left, and a whole segment is subtracted from what is right of
/// it by one product.

#include <tessera/linear_algebra/cholesky.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

#include "enter.hpp"
#include "model.hpp"
#include "panel.hpp"
#include "symmetric.hpp"

namespace tessera {

NotPositiveDefinite::NotPositiveDefinite(Index minor)
    : InvalidArgument("Cholesky: the matrix is not positive definite: its leading minor of order " +
                      std::to_string(minor) + " is not; Lu solves such systems"),
      minor_(minor) {}
NotPositiveDefinite::~NotPositiveDefinite() = default;

namespace linear_algebra {
namespace {

/// Calls panel(first, j, width) for each panel of a segment, until one returns fewer columns than it has; then that is
/// where the factorisation ends. Calls rest(first, end) after each segment.
template <class Panel, class Rest>
Index for_panels(Index n, const Panel& panel, const Rest& rest) {
  for (Index first = 0; first < n; first += canonical_segment) {
    const Index end = std::min(n, first + canonical_segment);
    for (Index j = first; j < end; j += panel_width) {
      const Index width = std::min(panel_width, end - j), done = panel(first, j, width);
      if (done < width) return j + done;
    }
    if (end < n) rest(first, end);
  }
  return n;
}

/// Factors the lower triangle; `sums` has room for n rows of a panel.
template <class T>
Index factor_lower(const Products<T>& products, Index n, Block<T> a, T* sums) {
  const Block<T> s{sums, std::min(n, panel_width)};
  const auto panel = [&](Index first, Index j, Index width) {
    const Factor<T> left{a.from(j, first)};
    products.sums(n - j, width, j - first, left, left.transposed(), s);
    const Index done = factor_positive(width, a.at(j, j), a.ld, s.data, s.ld);
    if (done < width) return done;
    const TriangleBlock<T> triangle{.size = width, .t = a.at(j, j), .ld = a.ld};
    products.in_parts(n - j - width, 64, [&](Index begin, Index stop) {
      solve_rows(triangle, stop - begin, a.at(j + width + begin, j), a.ld, s.at(width + begin, 0), s.ld);
    });
    return done;
  };
  return for_panels(n, panel, [&](Index first, Index end) {
    const Factor<T> left{a.from(end, first)};
    const Term<T> less[] = {{T(-1), left, left.transposed()}};
    triangle_product<T>(products, {Triangle::Lower, false, n - end, a.from(end, end)}, end - first, less, T(1));
  });
}

/// Factors the upper triangle, which becomes Lᵀ: the panels are rows. `sums` has room for as many columns.
template <class T>
Index factor_upper(const Products<T>& products, Index n, Block<T> a, T* sums) {
  const Block<T> s{sums, n};
  const auto panel = [&](Index first, Index j, Index width) {
    const Factor<T> above{a.from(first, j)};
    products.sums(width, n - j, j - first, above.transposed(), above, s);
    T block[panel_width * panel_width];
    for (Index i = 0; i < width; ++i)
      for (Index k = 0; k <= i; ++k) block[i * panel_width + k] = *a.at(j + k, j + i);
    const Index done = factor_positive(width, block, panel_width, s.data, s.ld);
    for (Index i = 0; i < width; ++i)
      for (Index k = 0; k <= std::min(i, done - 1); ++k) *a.at(j + k, j + i) = block[i * panel_width + k];
    if (done < width) return done;
    const TriangleBlock<T> triangle{.size = width, .t = block, .ld = panel_width};
    products.in_parts(n - j - width, 64, [&](Index begin, Index stop) {
      solve_columns(triangle, stop - begin, a.at(j, j + width + begin), a.ld, s.at(0, width + begin), s.ld);
    });
    return done;
  };
  return for_panels(n, panel, [&](Index first, Index end) {
    const Factor<T> above{a.from(first, end)};
    const Term<T> less[] = {{T(-1), above.transposed(), above}};
    triangle_product<T>(products, {Triangle::Upper, false, n - end, a.from(end, end)}, end - first, less, T(1));
  });
}

template <class T>
Index factor_triangle(Triangle triangle, Index n, void* data, Index lda, const SolveOptions& options,
                      detail::Shortage shortage) {
  const Block<T> a{static_cast<T*>(data), lda};
  const bool is_lower = triangle == Triangle::Lower;
  const auto by_formula = [&] {
    const Grid<T> grid{a.data, a.ld};
    return model_cholesky(n, is_lower ? grid : grid.transposed());
  };
  if (options.backend == Backend::Reference) return by_formula();
  const auto blocked = [&] {
    const Products<T> products(options, shortage);
    std::vector<T> sums(static_cast<std::size_t>(n * std::min(n, panel_width)));
    return is_lower ? factor_lower(products, n, a, sums.data()) : factor_upper(products, n, a, sums.data());
  };
  return with_or_without_memory(shortage, blocked, by_formula);
}

} // namespace
} // namespace linear_algebra

namespace detail {

Index factor_cholesky(DType type, Triangle triangle, Index n, void* a, Index lda, const SolveOptions& options,
                      Shortage shortage) {
  return linear_algebra::enter("Cholesky", options, [&] {
    return type == DType::F32 ? linear_algebra::factor_triangle<float>(triangle, n, a, lda, options, shortage)
                              : linear_algebra::factor_triangle<double>(triangle, n, a, lda, options, shortage);
  });
}

} // namespace detail
} // namespace tessera
