/// Factorisations and triangular systems on a device. Within a segment panels look left, so that a panel's sums are one
/// product; a whole segment is subtracted from what is right of it by one product, as on the host.

#include <algorithm>
#include <array>

#include "steps.hpp"

namespace tessera::linear_algebra::device {
namespace {

/// Calls step(j, here) for each panel of at most `width` rows or columns of first … end − 1.
template <class Step>
void for_panels(Index first, Index end, Index width, const Step& step) {
  for (Index j = first; j < end; j += width) step(j, std::min(width, end - j));
}

/// Solves with some rows of a lower triangle, at most a panel's, whose sums begin at column `first`.
void solve_panel(const Steps& steps, const Lower& lower, Index first, Index row, Index height, const Unknowns& unknowns,
                 Place sums) {
  const Index count = unknowns.count;
  const Place before = unknowns.from(first), to = unknowns.from(row);
  const Place left = lower.t.at(row, first), triangle = lower.t.at(row, row);
  if (unknowns.are_rows)
    steps.sums(count, height, row - first, before, left, Op::Transpose, sums);
  else
    steps.sums(height, count, row - first, left, before, Op::None, sums);
  steps.panel({.op = unknowns.are_rows ? PanelOp::SolveRows : PanelOp::SolveColumns,
               .rows = unknowns.are_rows ? count : height,
               .cols = unknowns.are_rows ? height : count,
               .a = to.data,
               .lda = to.ld,
               .s = sums.data,
               .lds = sums.ld,
               .t = triangle.data,
               .ldt = triangle.ld,
               .has_unit_diagonal = lower.has_unit_diagonal});
}

/// Does so with the rows first … end − 1.
void solve_segment(const Steps& steps, const Lower& lower, Index first, Index end, const Unknowns& unknowns, Place sums,
                   bool& begins) {
  for_panels(first, end, most_panel_columns, [&](Index row, Index height) {
    solve_panel(steps, lower, first, row, height, unknowns, sums);
    begins = true;
  });
}

} // namespace

FirstFailure::FirstFailure(const Steps& steps) : steps_(steps), memory_(steps.numbers(2)) {
  const std::array<Index, 2> none{-1, 0};
  steps.write(memory_.as<Index>(), std::span<const Index>(none));
}

Index FirstFailure::get() const {
  std::array<Index, 1> row{};
  steps_.read(std::span<Index>(row), memory_.as<const Index>());
  return row[0];
}

void solve_lower(const Steps& steps, const Lower& lower, const Unknowns& unknowns, Place sums, bool& begins) {
  for (Index first = 0; first < lower.n; first += steps.segment()) {
    const Index end = std::min(lower.n, first + steps.segment()), rest = lower.n - end;
    solve_segment(steps, lower, first, end, unknowns, sums, begins);
    const Place found = unknowns.from(first), to = unknowns.from(end), left = lower.t.at(end, first);
    if (unknowns.are_rows)
      steps.product(true, unknowns.count, rest, end - first, found, left, Op::Transpose, to);
    else
      steps.product(true, rest, unknowns.count, end - first, left, found, Op::None, to);
  }
}

Elimination::Elimination(const Steps& steps, Index m, Index n, Place a, Math math)
    : steps_(steps),
      m_(m),
      n_(n),
      a_(a),
      math_(math),
      numbers_(steps.numbers(std::min(m, n))),
      column_memory_(steps.array(m, most_panel_columns)),
      row_memory_(steps.array(most_panel_columns, n)),
      column_sums_(steps.place(column_memory_, most_panel_columns)),
      row_sums_(steps.place(row_memory_, n)),
      failure_(steps) {
  steps.expect_memory_of_products();
}

Index Elimination::run(std::span<Index> pivots, bool& begins) const {
  const Index all = std::min(m_, n_);
  for (Index first = 0; first < all; first += steps_.segment()) {
    const Index end = std::min(all, first + steps_.segment());
    for_panels(first, end, most_panel_columns,
               [&](Index j, Index width) { factor_panel(first, j, width, end, begins); });
    exchange(first, first, end, {0, n_}, {first, end});
    if (end == n_) continue;
    solve_segment(steps_, unit_lower(), first, end, {.count = n_ - end, .x = a_.at(0, end)}, row_sums_, begins);
    steps_.product(true, m_ - end, n_ - end, end - first, a_.at(end, first), Op::None, a_.at(first, end), Op::None,
                   a_.at(end, end), math_);
  }
  steps_.read(pivots, numbers_.as<const Index>());
  return failure_.get();
}

/// Factors a panel, and finishes its rows of U up to column `end`.
void Elimination::factor_panel(Index first, Index j, Index width, Index end, bool& begins) const {
  const Place panel = a_.at(j, j);
  steps_.sums(m_ - j, width, j - first, a_.at(j, first), a_.at(first, j), Op::None, column_sums_);
  steps_.panel({.op = PanelOp::Lu,
                .rows = m_ - j,
                .cols = width,
                .a = panel.data,
                .lda = panel.ld,
                .s = column_sums_.data,
                .lds = column_sums_.ld,
                .numbers = numbers_.as<Index>() + j,
                .first = j,
                .failed = failure_.place()});
  begins = true;
  exchange(j, j, j + width, {first, end}, {j, j + width});
  const Index right = j + width;
  if (right == end) return;
  solve_panel(steps_, unit_lower(), first, j, width, {.count = end - right, .x = a_.at(0, right)}, row_sums_);
}

/// Exchanges the rows of steps begin … end − 1, from row `row` on, in some columns but for the ones that are kept.
void Elimination::exchange(Index row, Index begin, Index end, Columns columns, Columns kept) const {
  const Place from = a_.at(row, columns.begin);
  steps_.panel({.op = PanelOp::ExchangeRows,
                .rows = m_ - row,
                .cols = columns.end - columns.begin,
                .a = from.data,
                .lda = from.ld,
                .numbers = numbers_.as<Index>() + begin,
                .count = end - begin,
                .first = row,
                .kept_begin = kept.begin - columns.begin,
                .kept_end = kept.end - columns.begin});
}

PositiveFactor::PositiveFactor(const Steps& steps, Index n, Place a)
    : steps_(steps),
      n_(n),
      a_(a),
      memory_(steps.array(n, steps.positive_width())),
      sums_(steps.place(memory_, steps.positive_width())),
      failure_(steps) {
  steps.expect_memory_of_products();
}

Index PositiveFactor::run(bool& begins) const {
  const Index segment = steps_.segment();
  for (Index first = 0; first < n_; first += segment) {
    const Index end = std::min(n_, first + segment);
    for_panels(first, end, steps_.positive_width(),
               [&](Index j, Index width) { factor_panel(first, j, width, begins); });
    for (Index col = end; col < n_; col += segment) // above the diagonal a little is computed in vain
      steps_.product(true, n_ - col, std::min(segment, n_ - col), end - first, a_.at(col, first), a_.at(col, first),
                     steps_.adjoint(), a_.at(col, col));
  }
  steps_.panel({.op = PanelOp::ClearUpper, .rows = n_, .cols = n_, .a = a_.data, .lda = a_.ld});
  return failure_.get();
}

void PositiveFactor::factor_panel(Index first, Index j, Index width, bool& begins) const {
  const Place left = a_.at(j, first), panel = a_.at(j, j);
  steps_.sums(n_ - j, width, j - first, left, left, steps_.adjoint(), sums_);
  steps_.panel({.op = PanelOp::Cholesky,
                .rows = n_ - j,
                .cols = width,
                .a = panel.data,
                .lda = panel.ld,
                .s = sums_.data,
                .lds = sums_.ld,
                .first = j,
                .failed = failure_.place()});
  begins = true;
}

} // namespace tessera::linear_algebra::device
