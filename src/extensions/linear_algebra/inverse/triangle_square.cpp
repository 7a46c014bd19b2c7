/// The product of a triangle and its transpose, in the triangle's place. A copy has zeros below the diagonal of blocks
/// on it, which come before the first terms of chains and change none where numbers are finite.

#include <tessera/linear_algebra/inverse.hpp>

#include <algorithm>
#include <memory>

#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/level3/magnitudes.hpp"
#include "inverse_model.hpp"

namespace tessera::linear_algebra {
namespace {

/// The columns that are computed at once. No bit depends on it.
constexpr Index small_block = 32, large_block = 96;

/// U·Uᵀ for an upper triangle U, or Lᵀ·L for a lower one, whose transpose is U.
template <class T>
class TriangleSquare {
 public:
  TriangleSquare(const Products<T>& products, Triangle triangle, Index n, Block<const T> a)
      : products_(products),
        is_upper_(triangle == Triangle::Upper),
        n_(n),
        block_(std::min(n, n < 400 ? small_block : large_block)),
        memory_(std::make_unique<T[]>(static_cast<std::size_t>(n * n))), // zeros
        square_(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(block_ * block_))) {
    for (Index i = 0; i < n; ++i)
      std::copy(a.at(i, is_upper_ ? i : 0), a.at(i, is_upper_ ? n : i + 1), &memory_[i * n + (is_upper_ ? i : 0)]);
  }

  /// Writes the result: for each block of columns, the rows above the diagonal, and then the block on it.
  void run(Block<T> c) const {
    const Block<T> square{square_.get(), block_};
    for (Index begin = 0; begin < n_; begin += block_) {
      const Index size = std::min(block_, n_ - begin);
      if (begin > 0) multiply(0, begin, begin, size, is_upper_ ? c.from(0, begin) : c.from(begin, 0));
      multiply(begin, size, begin, size, square);
      for (Index i = 0; i < size; ++i) {
        const Index first = is_upper_ ? i : 0, end = is_upper_ ? size : i + 1;
        std::copy(square.at(i, first), square.at(i, end), c.at(begin + i, begin + first));
      }
    }
  }

 private:
  /// C = U(rows)·U(columns)ᵀ or its transpose, over the k from `column` on, segment by segment.
  void multiply(Index row, Index rows, Index column, Index cols, Block<T> c) const {
    for (Index k = column; k < n_;) {
      const Index end = std::min(n_, (k / canonical_segment + 1) * canonical_segment);
      const T beta = k == column ? T(0) : T(1);
      const Block<T> copy{memory_.get(), n_};
      if (is_upper_)
        products_.multiply(1, rows, cols, end - k, {copy.from(row, k)}, Factor<T>{copy.from(column, k)}.transposed(),
                           beta, c);
      else
        products_.multiply(1, cols, rows, end - k, Factor<T>{copy.from(k, column)}.transposed(), {copy.from(k, row)},
                           beta, c);
      k = end;
    }
  }

  const Products<T>& products_;
  bool is_upper_;
  Index n_, block_;
  std::unique_ptr<T[]> memory_, square_;
};

template <class T>
void multiply(Triangle triangle, Index n, Block<T> a, const SolveOptions& options, detail::Shortage shortage) {
  const bool is_upper = triangle == Triangle::Upper;
  const auto by_formula = [&] {
    const Grid<T> grid{a.data, a.ld};
    model_square(n, is_upper ? grid : grid.transposed());
  };
  const NumbersInRows<T> all{.rows = n,
                             .first = a.data,
                             .step = is_upper ? a.ld + 1 : a.ld,
                             .count = is_upper ? n : 1,
                             .more = is_upper ? -1 : 1};
  if (options.backend == Backend::Reference || !magnitudes_of(all).are_finite) return by_formula();
  const auto blocked = [&] {
    const Products<T> products(options, shortage);
    TriangleSquare<T>(products, triangle, n, a).run(a);
  };
  with_or_without_memory(shortage, blocked, by_formula);
}

} // namespace
} // namespace tessera::linear_algebra

namespace tessera::detail {

template <class T>
void multiply_by_transpose(Triangle triangle, Index n, T* a, Index lda, const SolveOptions& options,
                           Shortage shortage) {
  linear_algebra::enter("multiply_by_transpose", options, [&] {
    if (n > 0) linear_algebra::multiply<T>(triangle, n, {a, lda}, options, shortage);
  });
}

template void multiply_by_transpose(Triangle, Index, float*, Index, const SolveOptions&, Shortage);
template void multiply_by_transpose(Triangle, Index, double*, Index, const SolveOptions&, Shortage);

} // namespace tessera::detail
