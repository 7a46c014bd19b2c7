#include "triangular.hpp"

#include <algorithm>
#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>

#include "model.hpp"
#include "panel.hpp"

namespace tessera::linear_algebra {
namespace {

/// The block of M on the diagonal from `first` on, which a panel's solution reads from beginning to end.
template <class T>
class DiagonalBlock {
 public:
  DiagonalBlock(const ForwardTriangle<T>& triangle, Index first)
      : block_{.size = std::min(panel_width, triangle.n - first),
               .t = values_,
               .ld = panel_width,
               .has_unit_diagonal = triangle.has_unit_diagonal} {
    const Factor<T> from = triangle.rectangle(first, first);
    const bool straight = from.op == Op::None;
    for (Index i = 0; i < block_.size; ++i)
      for (Index k = 0; k <= i; ++k)
        if (k < i || !block_.has_unit_diagonal)
          values_[i * panel_width + k] = straight ? *from.stored.at(i, k) : *from.stored.at(k, i);
  }
  DiagonalBlock(const DiagonalBlock&) = delete;
  DiagonalBlock& operator=(const DiagonalBlock&) = delete;

  const TriangleBlock<T>& block() const { return block_; }

 private:
  T values_[panel_width * panel_width];
  TriangleBlock<T> block_;
};

/// The fewest right-hand sides that are worth a thread's while.
constexpr Index grain = 64;

/// Calls segment(first, end) for each segment of 0 … n − 1.
template <class Body>
void for_segments(Index n, const Body& segment) {
  for (Index first = 0; first < n; first += canonical_segment) segment(first, std::min(n, first + canonical_segment));
}

} // namespace

template <class T>
void solve_left(const Products<T>& products, const ForwardTriangle<T>& triangle, Index count, Block<T> x, T* sums) {
  const Block<T> s{sums, count};
  for_segments(triangle.n, [&](Index first, Index end) {
    for (Index row = first; row < end; row += panel_width) {
      const DiagonalBlock<T> diagonal(triangle, row);
      products.sums(diagonal.block().size, count, row - first, triangle.rectangle(row, first), {x.from(first, 0)}, s);
      products.in_parts(count, grain, [&](Index begin, Index stop) {
        solve_columns(diagonal.block(), stop - begin, x.at(row, begin), x.ld, s.at(0, begin), s.ld);
      });
    }
    products.subtract(triangle.n - end, count, end - first, triangle.rectangle(end, first), {x.from(first, 0)},
                      x.from(end, 0));
  });
}

template <class T>
void solve_right(const Products<T>& products, const ForwardTriangle<T>& triangle, Index count, Block<T> x, T* sums) {
  const Block<T> s{sums, std::min(panel_width, triangle.n)};
  for_segments(triangle.n, [&](Index first, Index end) {
    for (Index row = first; row < end; row += panel_width) {
      const DiagonalBlock<T> diagonal(triangle, row);
      products.sums(count, diagonal.block().size, row - first, {x.from(0, first)},
                    triangle.transposed_rectangle(row, first), s);
      products.in_parts(count, grain, [&](Index begin, Index stop) {
        solve_rows(diagonal.block(), stop - begin, x.at(begin, row), x.ld, s.at(begin, 0), s.ld);
      });
    }
    products.subtract(count, triangle.n - end, end - first, {x.from(0, first)},
                      triangle.transposed_rectangle(end, first), x.from(0, end));
  });
}

namespace {

/// Reverses the order of X's rows, or of its columns.
template <class T>
void turn_round(Side side, Index n, Index count, Block<T> x) {
  if (side == Side::Left)
    for (Index i = 0; i < n / 2; ++i) std::swap_ranges(x.at(i, 0), x.at(i, count), x.at(n - 1 - i, 0));
  else
    for (Index i = 0; i < count; ++i) std::reverse(x.at(i, 0), x.at(i, n));
}

/// Returns M(n − 1 − i, n − 1 − k) for the upper triangle M, as a matrix of n columns.
template <class T>
std::vector<T> turned_round(const ForwardTriangle<T>& upper) {
  const Index n = upper.n;
  std::vector<T> turned(static_cast<std::size_t>(n * n));
  const bool straight = upper.m.op == Op::None;
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k <= i; ++k)
      turned[static_cast<std::size_t>(i * n + k)] =
          straight ? *upper.m.stored.at(n - 1 - i, n - 1 - k) : *upper.m.stored.at(n - 1 - k, n - 1 - i);
  return turned;
}

template <class T>
void solve_system(const detail::TriangularCall& call, const SolveOptions& options, detail::Shortage shortage) {
  const Block<T> x{static_cast<T*>(call.b), call.ldb};
  // X·op(T) = B is op(T)ᵀ·Xᵀ = Bᵀ.
  const bool transposed = (call.op == Op::None) != (call.side == Side::Left);
  const bool backwards = (call.triangle == Triangle::Lower) == transposed;
  const bool unit = call.diagonal == Diagonal::Unit;
  const Block<const T> stored{static_cast<const T*>(call.t), call.ldt};
  const auto by_formula = [&] {
    Grid<const T> m{stored.data, stored.ld};
    Grid<T> unknowns{x.data, x.ld};
    if (transposed) m = m.transposed();
    if (call.side == Side::Right) unknowns = unknowns.transposed();
    if (backwards) {
      m = m.turned_round(call.n, call.n);
      unknowns = unknowns.turned_round(call.n, call.count);
    }
    model_solve(call.n, m, unit, call.count, unknowns);
  };
  if (options.backend == Backend::Reference) return by_formula();
  const auto blocked = [&] {
    ForwardTriangle<T> triangle{
        .n = call.n, .m = {stored, transposed ? Op::Transpose : Op::None}, .has_unit_diagonal = unit};
    const Products<T> products(options, shortage);
    std::vector<T> turned;
    if (backwards) {
      turned = turned_round(triangle);
      triangle.m = {.stored = {turned.data(), call.n}};
    }
    std::vector<T> sums(static_cast<std::size_t>(std::min(panel_width, call.n) * call.count));
    if (backwards) turn_round(call.side, call.n, call.count, x);
    if (call.side == Side::Left)
      solve_left(products, triangle, call.count, x, sums.data());
    else
      solve_right(products, triangle, call.count, x, sums.data());
    if (backwards) turn_round(call.side, call.n, call.count, x);
  };
  with_or_without_memory(shortage, blocked, by_formula);
}

} // namespace

template void solve_left(const Products<float>&, const ForwardTriangle<float>&, Index, Block<float>, float*);
template void solve_left(const Products<double>&, const ForwardTriangle<double>&, Index, Block<double>, double*);
template void solve_right(const Products<float>&, const ForwardTriangle<float>&, Index, Block<float>, float*);
template void solve_right(const Products<double>&, const ForwardTriangle<double>&, Index, Block<double>, double*);

} // namespace tessera::linear_algebra

namespace tessera::detail {

void triangular_solve(const TriangularCall& call, const SolveOptions& options, Shortage shortage) try {
  expect_no_refinement("triangular_solve", options);
  const Uncancelled whole;
  const ContractArithmetic contract;
  if (call.n == 0 || call.count == 0) return;
  if (call.type == DType::F32) return linear_algebra::solve_system<float>(call, options, shortage);
  linear_algebra::solve_system<double>(call, options, shortage);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
