/// LU with partial pivoting. Within a segment each panel is brought up to date when its turn comes, its columns and its
/// rows alike (Crout's order); a whole segment is subtracted from the rest by one product.

#include <tessera/linear_algebra/lu.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "enter.hpp"
#include "factor.hpp"
#include "model.hpp"
#include "on_host.hpp"
#include "panel.hpp"
#include "planes.hpp"

namespace tessera {

SingularMatrix::SingularMatrix(Index pivot)
    : InvalidArgument("the matrix is singular: pivot " + std::to_string(pivot) +
                      " of its factorisation, counted from 0, is 0; the system has no solution, or many"),
      pivot_(pivot) {}
SingularMatrix::~SingularMatrix() = default;

namespace linear_algebra {
namespace {

template <class T>
void copy(Index rows, Index cols, Block<const T> from, Block<T> to) {
  for (Index i = 0; i < rows; ++i) std::copy(from.at(i, 0), from.at(i, cols), to.at(i, 0));
}

/// The sums and the panel of one step, both by columns, in blocks of their own whose columns lie no power of two apart.
template <class T>
struct LuWorkspace {
  LuWorkspace(Index m, Index n)
      : width(std::min({panel_width, m, n})),
        ld(apart(m + panel_padding<T>)),
        sums_of_columns(zeros<Part<T>>(ld * width * Number<T>::parts)),
        panel_memory(zeros<Part<T>>(std::ssize(sums_of_columns))),
        sums_of_rows(zeros<T>((n - width) * width)),
        l_ld(apart(std::min({segment_length<T>, m, n}))),
        l_memory(is_complex<T> ? m * l_ld + (std::min(m, n) > segment_length<T> ? strip_rows * n : 0) : 0),
        strip(is_complex<T> ? l_memory.data() + m * l_ld : nullptr) {}
  static constexpr Index strip_rows = 448; ///< no bit depends on it
  Index width, ld;                         ///< a panel has no more columns than `width`
  std::vector<Part<T>> sums_of_columns, panel_memory;
  std::vector<T> sums_of_rows;
  Index l_ld;
  Scratch<T> l_memory; ///< and then the strip, in one block, which the C library keeps where it would return several
  T* strip;
  Index rows[panel_width]; ///< the pivots of a panel, counted from its first row
  T triangle[panel_width * panel_width];

  /// A segment's columns of L by rows, where A is stored by columns and its numbers are complex: a product would copy
  /// them anew each time.
  Block<T> l() const { return {l_memory.data(), l_ld}; }
  /// Adds the panel to it, from row j and column k on, and lets the rows of earlier panels change places.
  void store_l(Index j, Index height, Index cols, Index k) {
    for (Index c = 0; c < cols; ++c)
      if (rows[c] != c) std::swap_ranges(l().at(j + c, 0), l().at(j + c, k), l().at(j + rows[c], 0));
    put_together(height, cols, panel_memory.data(), ld, l().at(j, k), Place{1, l_ld});
  }

  /// Computes the sums of a panel, height×cols over k terms of l and u.
  void sum(const Products<T>& products, Index height, Index cols, Index k, Factor<T> l, Factor<T> u) {
    if constexpr (is_complex<T>) {
      T* const scratch = reinterpret_cast<T*>(panel_memory.data()); // the panel comes later
      products.sums(height, cols, k, l, u, {scratch, cols});
      take_apart(height, cols, scratch, Place{1, cols}, sums_of_columns.data(), ld);
    } else {
      products.sums(cols, height, k, u.transposed(), l.transposed(), {sums_of_columns.data(), ld});
    }
  }
  /// Copies the panel that begins at `a`, a matrix that is stored by rows or by columns.
  void load(Op stored, Index height, Index cols, Block<const T> a) {
    if constexpr (is_complex<T>)
      take_apart(height, cols, a.data, place(stored, a.ld), panel_memory.data(), ld);
    else if (stored == Op::None)
      transpose<T>(height, cols, a, {panel_memory.data(), ld});
    else
      copy<T>(cols, height, a, {panel_memory.data(), ld});
  }
  void store(Op stored, Index height, Index cols, Block<T> a) {
    if constexpr (is_complex<T>)
      put_together(height, cols, panel_memory.data(), ld, a.data, place(stored, a.ld));
    else if (stored == Op::None)
      transpose<T>(cols, height, {panel_memory.data(), ld}, a);
    else
      copy<T>(cols, height, {panel_memory.data(), ld}, a);
  }
  /// Factors the panel, whose first row is row j of A. Returns its first pivot of 0, or −1.
  Index factor(Index j, Index height, Index cols, detail::RowNumbers pivots) {
    const Index found = factor_panel<T>({height, cols, panel_memory.data(), sums_of_columns.data(), ld}, rows);
    for (Index c = 0; c < cols; ++c) pivots.set(j + c, j + rows[c]);
    return found < 0 ? found : j + found;
  }
  /// Returns the square at the top of the panel's L, which is valid until the next call.
  TriangleBlock<T> unit_triangle(Index size) {
    constexpr Index parts = Number<T>::parts;
    for (Index i = 0; i < size; ++i)
      for (Index k = 0; k < i; ++k) {
        const Part<T>* const l = panel_memory.data() + k * parts * ld + i;
        if constexpr (is_complex<T>)
          triangle[i * panel_width + k] = {l[0], l[ld]};
        else
          triangle[i * panel_width + k] = *l;
      }
    return {.size = size, .t = triangle, .ld = panel_width, .has_unit_diagonal = true};
  }

 private:
  static Place place(Op stored, Index ld) { return stored == Op::None ? Place{1, ld} : Place{ld, 1}; }
};

/// A factorisation of A, m×n: the panels of each segment, and what follows it. Returns the first pivot that is 0.
template <class Panel, class Rest>
Index for_panels(Index m, Index n, Index segment, const Panel& panel, const Rest& rest) {
  const Index steps = std::min(m, n);
  Index singular = -1;
  for (Index first = 0; first < steps; first += segment) {
    const Index end = std::min(steps, first + segment);
    for (Index j = first; j < end; j += panel_width) {
      const Index found = panel(first, j, std::min(panel_width, end - j));
      if (singular < 0) singular = found;
    }
    rest(first, end);
  }
  return singular;
}

/// Factors A, which is stored by rows. `updates` are the products that subtract a whole segment.
template <class T>
Index factor_rows(const Products<T>& products, const Products<T>& updates, LuWorkspace<T>& space, Index m, Index n,
                  Block<T> a, detail::RowNumbers pivots) {
  const Block<T> s_rows{space.sums_of_rows.data(), n - space.width};
  const auto swap_rows = [&](Index from, Index to, Index row, Index other) {
    if (row != other) std::swap_ranges(a.at(row, from), a.at(row, to), a.at(other, from));
  };
  const auto step = [&](Index first, Index j, Index width) {
    const Index right = n - j - width;
    const Factor<T> l{a.from(j, first)}, u{a.from(first, j)};
    space.sum(products, m - j, width, j - first, l, u);
    space.load(Op::None, m - j, width, a.from(j, j));
    const Index found = space.factor(j, m - j, width, pivots);
    for (Index c = 0; c < width; ++c) {
      swap_rows(0, j, j + c, pivots[j + c]);
      swap_rows(j + width, n, j + c, pivots[j + c]);
    }
    space.store(Op::None, m - j, width, a.from(j, j));
    if (right == 0) return found;
    products.sums(width, right, j - first, l, u.from(0, width), s_rows);
    const TriangleBlock<T> triangle = space.unit_triangle(width);
    products.in_parts(right, 64, [&](Index begin, Index stop) {
      solve_columns(triangle, stop - begin, a.at(j, j + width + begin), a.ld, s_rows.at(0, begin), s_rows.ld);
    });
    return found;
  };
  return for_panels(m, n, segment_length<T>, step, [&](Index first, Index end) {
    updates.subtract(m - end, n - end, end - first, {a.from(end, first)}, {a.from(first, end)}, a.from(end, end));
  });
}

/// Factors A, which is stored by columns: at(j, i) is the element (i, j) of A, and its rows change places within the
/// rows of the memory.
template <class T>
Index factor_columns(const Products<T>& products, LuWorkspace<T>& space, Index m, Index n, Block<T> at,
                     detail::RowNumbers pivots) {
  // Of complex numbers the sums are by rows, whose order of factors is l·u.
  const Block<T> s_rows{space.sums_of_rows.data(), is_complex<T> ? n - space.width : space.width};
  const auto step = [&](Index first, Index j, Index width) {
    const Index right = n - j - width;
    const Factor<T> l{at.from(first, j)}, u{at.from(j, first)}; // the transposes of both
    const Factor<T> l_rows = is_complex<T> ? Factor<T>{space.l().from(j, 0)} : l.transposed();
    space.sum(products, m - j, width, j - first, l_rows, u.transposed());
    space.load(Op::Transpose, m - j, width, at.from(j, j));
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
    space.store(Op::Transpose, m - j, width, at.from(j, j));
    if (right == 0) return found;
    if constexpr (is_complex<T>) space.store_l(j, m - j, width, j - first);
    const TriangleBlock<T> triangle = space.unit_triangle(width);
    if constexpr (is_complex<T>)
      products.sums(width, right, j - first, l_rows, u.from(width, 0).transposed(), s_rows);
    else
      products.sums(right, width, j - first, u.from(width, 0), l, s_rows);
    products.in_parts(right, 64, [&](Index begin, Index stop) {
      T* const x = at.at(j + width + begin, j);
      if constexpr (is_complex<T>)
        solve_lines(First::Triangle, triangle, stop - begin, x, {at.ld, 1}, s_rows.at(0, begin), {1, s_rows.ld});
      else
        solve_rows(triangle, stop - begin, x, at.ld, s_rows.at(begin, 0), s_rows.ld);
    });
    return found;
  };
  return for_panels(m, n, segment_length<T>, step, [&](Index first, Index end) {
    const Factor<T> l{at.from(first, end)}, u{at.from(end, first)};
    if constexpr (is_complex<T>)
      products.subtract_transposed(m - end, n - end, end - first, {space.l().from(end, 0)}, u.transposed(),
                                   at.from(end, end), false, {space.strip_rows, space.strip});
    else
      products.subtract(n - end, m - end, end - first, u, l, at.from(end, end));
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
    LuWorkspace<T> space(m, n);
    Index singular = -1;
    products.run_steps(product_work(m, n, std::min(m, n)) / 3, [&] {
      singular = stored == Op::None ? factor_rows(products, products, space, m, n, a, pivots)
                                    : factor_columns(products, space, m, n, a, pivots);
    });
    return singular;
  };
  return with_or_without_memory(shortage, blocked, by_formula);
}

} // namespace

template <class T>
Index factor_lu_in_mode(Math math, Index n, Block<T> a, std::span<Index> pivots, const SolveOptions& options) {
  const detail::RowNumbers numbers(pivots.data());
  if (options.backend == Backend::Reference) return model_lu(n, n, Grid<T>{a.data, a.ld}, numbers, math);
  const Products<T> products(options), updates(options, {}, math);
  LuWorkspace<T> space(n, n);
  Index singular = -1;
  products.run_steps(product_work(n, n, n) / 3,
                     [&] { singular = factor_rows(products, updates, space, n, n, a, numbers); });
  return singular;
}

template Index factor_lu_in_mode(Math, Index, Block<float>, std::span<Index>, const SolveOptions&);
template Index factor_lu_in_mode(Math, Index, Block<std::complex<float>>, std::span<Index>, const SolveOptions&);

Index factor_lu_on_host(detail::NumberType type, Op stored, Index m, Index n, void* a, Index lda,
                        detail::RowNumbers pivots, const SolveOptions& options, detail::Shortage shortage) {
  return with_number(type,
                     [&]<class T>(T) { return factor_matrix<T>(stored, m, n, a, lda, pivots, options, shortage); });
}

} // namespace linear_algebra
} // namespace tessera
