/// LU with partial pivoting. Within a segment each panel is brought up to date when its turn comes, its columns and its
/// rows alike (Crout's order); a whole segment is subtracted from the rest by one product.

#include <tessera/linear_algebra/lu.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

#include "enter.hpp"
#include "model.hpp"
#include "panel.hpp"

namespace tessera {

SingularMatrix::SingularMatrix(Index pivot)
    : InvalidArgument("the matrix is singular: pivot " + std::to_string(pivot) +
                      " of its factorisation, counted from 0, is 0; the system has no solution, or many"),
      pivot_(pivot) {}
SingularMatrix::~SingularMatrix() = default;

namespace linear_algebra {
namespace {

/// The sums and the panel of one step, both by columns, in blocks of their own whose columns lie no power of two apart.
template <class T>
struct Workspace {
  Workspace(Index m, Index n)
      : width(std::min({panel_width, m, n})),
        ld((m + 7) / 8 * 8 + panel_padding<T> + 8),
        sums_of_columns(static_cast<std::size_t>(ld * width)),
        panel_memory(sums_of_columns.size()),
        sums_of_rows(static_cast<std::size_t>((n - width) * width)) {}
  Index width, ld; ///< a panel has no more columns than `width`
  std::vector<T> sums_of_columns, panel_memory, sums_of_rows;
  Index rows[panel_width]; ///< the pivots of a panel, counted from its first row
  T triangle[panel_width * panel_width];

  Block<T> sums() { return {sums_of_columns.data(), ld}; }
  Block<T> panel() { return {panel_memory.data(), ld}; }
  /// Factors the panel, whose first row is row j of A. Returns its first pivot of 0, or −1.
  Index factor(Index j, Index height, Index cols, detail::RowNumbers pivots) {
    const Index found = factor_panel<T>({height, cols, panel_memory.data(), ld, sums_of_columns.data(), ld}, rows);
    for (Index c = 0; c < cols; ++c) pivots.set(j + c, j + rows[c]);
    return found < 0 ? found : j + found;
  }
  /// Returns the square at the top of the panel's L, which is valid until the next call.
  TriangleBlock<T> unit_triangle(Index size) {
    for (Index i = 0; i < size; ++i)
      for (Index k = 0; k < i; ++k) triangle[i * panel_width + k] = *panel().at(k, i);
    return {.size = size, .t = triangle, .ld = panel_width, .has_unit_diagonal = true};
  }
};

template <class T>
void copy(Index rows, Index cols, Block<const T> from, Block<T> to) {
  for (Index i = 0; i < rows; ++i) std::copy(from.at(i, 0), from.at(i, cols), to.at(i, 0));
}

/// A factorisation of A, m×n: the panels of each segment, and what follows it. Returns the first pivot that is 0.
template <class Panel, class Rest>
Index for_panels(Index m, Index n, const Panel& panel, const Rest& rest) {
  const Index steps = std::min(m, n);
  Index singular = -1;
  for (Index first = 0; first < steps; first += canonical_segment) {
    const Index end = std::min(steps, first + canonical_segment);
    for (Index j = first; j < end; j += panel_width) {
      const Index found = panel(first, j, std::min(panel_width, end - j));
      if (singular < 0) singular = found;
    }
    rest(first, end);
  }
  return singular;
}

/// Factors A, which is stored by rows.
template <class T>
Index factor_rows(const Products<T>& products, Workspace<T>& space, Index m, Index n, Block<T> a,
                  detail::RowNumbers pivots) {
  const Block<T> s = space.sums(), panel = space.panel(), s_rows{space.sums_of_rows.data(), n - space.width};
  const auto swap_rows = [&](Index from, Index to, Index row, Index other) {
    if (row != other) std::swap_ranges(a.at(row, from), a.at(row, to), a.at(other, from));
  };
  const auto step = [&](Index first, Index j, Index width) {
    const Index right = n - j - width;
    const Factor<T> l{a.from(j, first)}, u{a.from(first, j)};
    products.sums(width, m - j, j - first, u.transposed(), l.transposed(), s);
    transpose<T>(m - j, width, a.from(j, j), panel);
    const Index found = space.factor(j, m - j, width, pivots);
    for (Index c = 0; c < width; ++c) {
      swap_rows(0, j, j + c, pivots[j + c]);
      swap_rows(j + width, n, j + c, pivots[j + c]);
    }
    transpose<T>(width, m - j, panel, a.from(j, j));
    if (right == 0) return found;
    products.sums(width, right, j - first, l, u.from(0, width), s_rows);
    const TriangleBlock<T> triangle = space.unit_triangle(width);
    products.in_parts(right, 64, [&](Index begin, Index stop) {
      solve_columns(triangle, stop - begin, a.at(j, j + width + begin), a.ld, s_rows.at(0, begin), s_rows.ld);
    });
    return found;
  };
  return for_panels(m, n, step, [&](Index first, Index end) {
    products.subtract(m - end, n - end, end - first, {a.from(end, first)}, {a.from(first, end)}, a.from(end, end));
  });
}

/// Factors A, which is stored by columns: at(j, i) is the element (i, j) of A, and its rows change places within the
/// rows of the memory.
template <class T>
Index factor_columns(const Products<T>& products, Workspace<T>& space, Index m, Index n, Block<T> at,
                     detail::RowNumbers pivots) {
  const Block<T> s = space.sums(), panel = space.panel(), s_rows{space.sums_of_rows.data(), space.width};
  const auto step = [&](Index first, Index j, Index width) {
    const Index right = n - j - width;
    const Factor<T> l{at.from(first, j)}, u{at.from(j, first)}; // the transposes of both
    products.sums(width, m - j, j - first, u, l, s);
    copy<T>(width, m - j, at.from(j, j), panel);
    const Index found = space.factor(j, m - j, width, pivots);
    const auto swap = [&](Index begin, Index end) {
      for (Index column = begin; column < end; ++column)
        for (Index c = 0; c < width; ++c) {
          T* const other = at.at(column, j + space.rows[c]);
          if (column + 4 < end) __builtin_prefetch(other + 4 * at.ld, 1); // lines come in no order
          std::swap(*at.at(column, j + c), *other);
        }
    };
    products.in_parts(j, 64, swap);
    products.in_parts(right, 64, [&](Index begin, Index end) { swap(j + width + begin, j + width + end); });
    copy<T>(width, m - j, panel, at.from(j, j));
    if (right == 0) return found;
    products.sums(right, width, j - first, u.from(width, 0), l, s_rows);
    const TriangleBlock<T> triangle = space.unit_triangle(width);
    products.in_parts(right, 64, [&](Index begin, Index stop) {
      solve_rows(triangle, stop - begin, at.at(j + width + begin, j), at.ld, s_rows.at(begin, 0), s_rows.ld);
    });
    return found;
  };
  return for_panels(m, n, step, [&](Index first, Index end) {
    products.subtract(n - end, m - end, end - first, {at.from(end, first)}, {at.from(first, end)}, at.from(end, end));
  });
}

template <class T>
Index factor_matrix(Op stored, Index m, Index n, void* data, Index lda, detail::RowNumbers pivots,
                    const SolveOptions& options, detail::Shortage shortage) {
  const Block<T> a{static_cast<T*>(data), lda};
  const auto by_formula = [&] {
    const Grid<T> grid{a.data, a.ld};
    return model_lu(m, n, stored == Op::None ? grid : grid.transposed(), pivots);
  };
  if (options.backend == Backend::Reference) return by_formula();
  const auto blocked = [&] {
    const Products<T> products(options, shortage);
    Workspace<T> space(m, n);
    return stored == Op::None ? factor_rows(products, space, m, n, a, pivots)
                              : factor_columns(products, space, m, n, a, pivots);
  };
  return with_or_without_memory(shortage, blocked, by_formula);
}

} // namespace
} // namespace linear_algebra

namespace detail {

Index factor_lu(DType type, Op stored, Index m, Index n, void* a, Index lda, RowNumbers pivots,
                const SolveOptions& options, Shortage shortage) {
  return linear_algebra::enter("Lu", options, [&] {
    return type == DType::F32 ? linear_algebra::factor_matrix<float>(stored, m, n, a, lda, pivots, options, shortage)
                              : linear_algebra::factor_matrix<double>(stored, m, n, a, lda, pivots, options, shortage);
  });
}

} // namespace detail
} // namespace tessera
