/// gesv and posv of the drop-in on a device: A and B are brought there once, and X and the factors back once.

#include "whole_systems.hpp"

#include <span>
#include <vector>

#include "brought.hpp"
#include "extensions/linear_algebra/enter.hpp"

namespace tessera::linear_algebra::device {
namespace {

CallersMatrix right_side(const detail::ColumnSystem& s) { return {s.type, Op::Transpose, s.n, s.count, s.b, s.ldb}; }

std::optional<Index> solve_general(const detail::ColumnSystem& s, detail::RowNumbers pivots,
                                   const SolveOptions& options) {
  if (s.count == 0) return std::nullopt; // factors alone
  const CallersMatrix a{s.type, Op::Transpose, s.n, s.n, s.a, s.lda}, b = right_side(s);
  return run_on_device(options, a, [&](const Steps& steps, bool& begins) {
    const Brought matrix(steps, a), unknowns(steps, b);
    const Elimination elimination(steps, s.n, s.n, matrix.place());
    System lower(steps, {.triangle = Triangle::Lower, .diagonal = Diagonal::Unit}, s.n, s.count),
        upper(steps, {.triangle = Triangle::Upper}, s.n, s.count);
    std::vector<Index> rows(static_cast<std::size_t>(s.n));
    matrix.bring();
    bool begins_there = false;
    const Index singular = elimination.run(std::span(rows), begins_there);
    if (singular < 0) {
      unknowns.bring();
      steps.exchange_rows(s.n, s.count, unknowns.place(), rows);
      lower.solve(matrix.place(), unknowns.place(), begins_there);
      upper.solve(matrix.place(), unknowns.place(), begins_there);
    }
    begins = true;
    matrix.take_back();
    if (singular < 0) unknowns.take_back();
    for (Index j = 0; j < s.n; ++j) pivots.set(j, rows[static_cast<std::size_t>(j)]);
    return singular;
  });
}

bool solve_positive(const detail::ColumnSystem& s, Triangle triangle, const SolveOptions& options) {
  if (s.count == 0) return false;
  // By rows the memory holds the other triangle.
  const Triangle held = triangle == Triangle::Lower ? Triangle::Upper : Triangle::Lower;
  const CallersMatrix a{s.type, held == Triangle::Lower ? Op::None : Op::Transpose, s.n, s.n, s.a, s.lda},
      b = right_side(s);
  return run_on_device(options, a,
                       [&](const Steps& steps, bool& begins) {
                         const Brought matrix(steps, a), unknowns(steps, b);
                         const PositiveFactor factor(steps, s.n, matrix.place());
                         System forwards(steps, {}, s.n, s.count),
                             backwards(steps, {.op = Op::Transpose}, s.n, s.count);
                         matrix.bring();
                         bool begins_there = false;
                         if (factor.run(begins_there) >= 0) return false;
                         unknowns.bring();
                         forwards.solve(matrix.place(), unknowns.place(), begins_there);
                         backwards.solve(matrix.place(), unknowns.place(), begins_there);
                         matrix.take_back(held, begins);
                         unknowns.take_back();
                         return true;
                       })
      .value_or(false);
}

} // namespace
} // namespace tessera::linear_algebra::device

namespace tessera::detail {

std::optional<Index> solve_on_device(const ColumnSystem& system, RowNumbers pivots, const SolveOptions& options) {
  return linear_algebra::enter("Lu", options,
                               [&] { return linear_algebra::device::solve_general(system, pivots, options); });
}

bool solve_positive_on_device(const ColumnSystem& system, Triangle triangle, const SolveOptions& options) {
  return linear_algebra::enter("Cholesky", options,
                               [&] { return linear_algebra::device::solve_positive(system, triangle, options); });
}

} // namespace tessera::detail
