/// LU with partial pivoting. Within a segment each panel is brought up to date when its turn comes, its columns and its
/// rows alike (Crout's order); a whole segment is subtracted from the rest by one product.

#include <tessera/linear_algebra/lu.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>

#include "model.hpp"

namespace tessera {

SingularMatrix::SingularMatrix(Index pivot)
    : InvalidArgument("the matrix is singular: pivot " + std::to_string(pivot) +
                      " of its factorisation, counted from 0, is 0; the system has no solution, or many"),
      pivot_(pivot) {}
SingularMatrix::~SingularMatrix() = default;

namespace linear_algebra {
namespace {

template <class T>
void swap_rows(Block<T> a, Index from, Index to, Index row, Index other) {
  if (row != other) std::swap_ranges(a.at(row, from), a.at(row, to), a.at(other, from));
}

/// The sums and the panel of one step, each in a block of its own: neighbours in a column of A lie far apart.
template <class T>
struct Workspace {
  Workspace(Index m, Index n)
      : sums_of_columns(static_cast<std::size_t>(m * panel_width)),
        panel(sums_of_columns.size()),
        sums_of_rows(static_cast<std::size_t>(n * panel_width)) {}
  std::vector<T> sums_of_columns, panel, sums_of_rows;
};

template <class T>
Index blocked_lu(Index m, Index n, Block<T> a, Index* pivots, const SolveOptions& options) {
  const Products<T> products(options);
  Workspace<T> space(m, n);
  const Block<T> s{space.sums_of_columns.data(), panel_width}, panel{space.panel.data(), panel_width};
  const Block<T> s_rows{space.sums_of_rows.data(), n};
  const Index steps = std::min(m, n);
  Index singular = -1;
  for (Index first = 0; first < steps; first += canonical_segment) {
    const Index end = std::min(steps, first + canonical_segment);
    for (Index j = first; j < end; j += panel_width) {
      const Index width = std::min(panel_width, end - j), right = n - j - width;
      products.sums(m - j, width, j - first, {a.from(j, first)}, {a.from(first, j)}, s);
      for (Index i = 0; i < m - j; ++i) std::copy(a.at(j + i, j), a.at(j + i, j + width), panel.at(i, 0));
      const Index found = factor_panel<T>({m - j, width, panel.data, panel.ld, s.data, s.ld}, pivots + j);
      if (found >= 0 && singular < 0) singular = j + found;
      for (Index c = 0; c < width; ++c) {
        pivots[j + c] += j;
        swap_rows(a, 0, j, j + c, pivots[j + c]);
        swap_rows(a, j + width, n, j + c, pivots[j + c]);
      }
      for (Index i = 0; i < m - j; ++i) std::copy(panel.at(i, 0), panel.at(i, width), a.at(j + i, j));
      if (right == 0) continue;
      products.sums(width, right, j - first, {a.from(j, first)}, {a.from(first, j + width)}, s_rows);
      const TriangleBlock<T> triangle{.size = width, .t = panel.data, .ld = panel.ld, .has_unit_diagonal = true};
      products.in_parts(right, 64, [&](Index begin, Index stop) {
        solve_columns(triangle, stop - begin, a.at(j, j + width + begin), a.ld, s_rows.at(0, begin), s_rows.ld);
      });
    }
    products.subtract(m - end, n - end, end - first, {a.from(end, first)}, {a.from(first, end)}, a.from(end, end));
  }
  return singular;
}

template <class T>
Index factor_rows(Index m, Index n, void* a, Index lda, Index* pivots, const SolveOptions& options) {
  const Block<T> block{static_cast<T*>(a), lda};
  return options.backend == Backend::Reference ? model_lu(m, n, block, pivots)
                                               : blocked_lu(m, n, block, pivots, options);
}

} // namespace
} // namespace linear_algebra

namespace detail {

Index factor_lu(DType type, Index m, Index n, void* a, Index lda, Index* pivots, const SolveOptions& options) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  return type == DType::F32 ? linear_algebra::factor_rows<float>(m, n, a, lda, pivots, options)
                            : linear_algebra::factor_rows<double>(m, n, a, lda, pivots, options);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace detail
} // namespace tessera
