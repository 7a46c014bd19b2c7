/// Triangular systems. A system that is solved backwards is one that is solved forwards when rows and columns are
/// counted from the last one, and the contract says so: one algorithm serves all.

#include <tessera/linear_algebra/triangular.hpp>

#include <algorithm>
#include <optional>

#include "enter.hpp"
#include "host_numbers.hpp"
#include "model_products.hpp"
#include "on_host.hpp"
#include "sided.hpp"
#include "transpose_tile.hpp"

namespace tessera::linear_algebra {
namespace {

/// The columns of a panel: substitution is slower than products, but narrow products are slow as well.
Index width_of(Index n) { return n < 400 ? panel_width / 2 : panel_width; }

/// Solves for the numbers [first, end) of a segment by panels: the sums of what is known, and substitution. `sums` has
/// room for panel_width or n numbers of each line, whichever is less.
template <class T>
void solve_by_panels(const Sided<T>& sided, const Factor<T>& m, Index n, Index first, Index end, bool has_unit_diagonal,
                     T* sums) {
  const Index width = width_of(n);
  for (Index row = first; row < end; row += width) {
    const Index size = std::min(width, end - row);
    const DiagonalBlock<T> diagonal(m, row, size, has_unit_diagonal);
    const Block<T> s = sided.scratch(sums, std::min(panel_width, n)), x = sided.numbers(row);
    sided.sums(size, row - first, m.from(row, first), first, s);
    sided.in_parts([&](Index begin, Index stop) {
      const Block<T> from = sided.lines(s, begin), to = sided.lines(x, begin);
      if (sided.is_left())
        solve_columns(diagonal.block(), stop - begin, to.data, to.ld, from.data, from.ld);
      else
        solve_rows(diagonal.block(), stop - begin, to.data, to.ld, from.data, from.ld);
    });
  }
}

/// Solves with a lower triangle M, n×n.
template <class T>
void solve_lower(const Sided<T>& sided, const Factor<T>& m, Index n, bool has_unit_diagonal, T* sums) {
  for (Index first = 0; first < n; first += segment_length<T>) {
    const Index end = std::min(n, first + segment_length<T>);
    const StoredOperand triangle = triangle_of(m.from(first, first), true, has_unit_diagonal);
    if (!sided.computes_in_tiles(TriangleTask::Solve, first, end - first, triangle))
      solve_by_panels(sided, m, n, first, end, has_unit_diagonal, sums);
    if (end < n) sided.add(T(-1), n - end, end - first, m.from(end, first), first, end);
  }
}

/// Reverses the order of X's rows, or of its columns.
template <class T>
void turn_round(Side side, Index n, Index count, Block<T> x) {
  if (side == Side::Left)
    for (Index i = 0; i < n / 2; ++i) std::swap_ranges(x.at(i, 0), x.at(i, count), x.at(n - 1 - i, 0));
  else
    for (Index i = 0; i < count; ++i) std::reverse(x.at(i, 0), x.at(i, n));
}

/// Writes a tile of M(n − 1 − i, n − 1 − k), rows×cols from (i, k) on, of which all is in the triangle.
template <class T>
void write_tile_turned_round(const Factor<T>& upper, Index n, Index i, Index k, Index rows, Index cols, T* turned) {
  const Factor<T> from = upper.from(n - i - rows, n - k - cols);
  T tile[transposed_tile * transposed_tile];
  Block<const T> straight{from.stored.data, from.stored.ld};
  if (upper.op != Op::None) {
    transpose_tile<T>(rows, cols, upper.conjugate, straight, {tile, cols});
    straight = {tile, cols};
  }
  const bool conjugates = upper.conjugate && upper.op == Op::None;
  for (Index r = 0; r < rows; ++r) {
    T* const to = turned + (i + r) * n + k;
    std::reverse_copy(straight.at(rows - 1 - r, 0), straight.at(rows - 1 - r, cols), to);
    for (Index c = 0; conjugates && c < cols; ++c) to[c] = conjugated_if(true, to[c]);
  }
}

/// Writes M(n − 1 − i, n − 1 − k) for the upper triangle M as the lower triangle of a matrix of n columns.
template <class T>
void write_turned_round(const Factor<T>& upper, Index n, T* turned) {
  for (Index first = 0; first < n; first += transposed_tile) {
    const Index rows = std::min(transposed_tile, n - first);
    for (Index left = 0; left < first; left += transposed_tile)
      write_tile_turned_round(upper, n, first, left, rows, transposed_tile, turned);
    for (Index i = first; i < first + rows; ++i)
      for (Index k = first; k <= i; ++k) turned[i * n + k] = upper.at(n - 1 - i, n - 1 - k);
  }
}

template <class T>
void solve(const detail::TriangularCall<T>& call, const SolveOptions& options, detail::Shortage shortage) {
  const Block<T> x{call.b, call.ldb};
  const SidedCall<T> sided_call(call);
  const auto by_formula = [&] {
    Lines<T> lines = sided_call.lines(call);
    if (!sided_call.is_lower) {
      lines.m = lines.m.turned_round(call.n, call.n);
      lines.x = lines.x.turned_round(call.n, call.count);
    }
    scale(call, x);
    model_solve(lines);
  };
  const auto blocked = [&](detail::Shortage now) {
    const Products<T> products(options, now);
    const Sided<T> sided(products, call.side, call.count, x);
    if (call.n <= segment_length<T> &&
        sided.computes_in_tiles(TriangleTask::Solve, 0, call.n, sided_call.triangle(), call.alpha))
      return;
    std::optional<HostNumbers<T>> turned;
    Factor<T> m = sided_call.m;
    if (!sided_call.is_lower) {
      write_turned_round(m, call.n, turned.emplace(call.n * call.n).get());
      m = {.stored = {turned->get(), call.n}};
    }
    const Scratch<T> sums(std::min(panel_width, call.n) * call.count);
    begin_result(now);
    scale(call, x);
    if (!sided_call.is_lower) turn_round(call.side, call.n, call.count, x);
    products.run_steps(work_of(call),
                       [&] { solve_lower(sided, m, call.n, sided_call.has_unit_diagonal, sums.data()); });
    if (!sided_call.is_lower) turn_round(call.side, call.n, call.count, x);
  };
  if (options.backend == Backend::Reference) return by_formula();
  complete_in_place(shortage, blocked, by_formula);
}

} // namespace

template <class T>
void solve_triangle_on_host(const detail::TriangularCall<T>& call, const SolveOptions& options,
                            detail::Shortage shortage) {
  if (call.n == 0 || call.count == 0) return;
  if (call.alpha == T(0)) return scale(call, Block<T>{call.b, call.ldb});
  solve(call, options, shortage);
}

template void solve_triangle_on_host(const detail::TriangularCall<float>&, const SolveOptions&, detail::Shortage);
template void solve_triangle_on_host(const detail::TriangularCall<double>&, const SolveOptions&, detail::Shortage);
template void solve_triangle_on_host(const detail::TriangularCall<std::complex<float>>&, const SolveOptions&,
                                     detail::Shortage);
template void solve_triangle_on_host(const detail::TriangularCall<std::complex<double>>&, const SolveOptions&,
                                     detail::Shortage);

} // namespace tessera::linear_algebra
