/// The product of a triangle and its conjugate transpose, in the triangle's place, a block of columns after the other:
/// a block's sums begin at its own columns, so that nothing after it needs what was there. The block's rows are copied
/// with zeros below their diagonal, which come before the first terms of chains and change none where numbers are
/// finite.

#include <tessera/linear_algebra/inverse.hpp>

#include <algorithm>

#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/host_numbers.hpp"
#include "extensions/linear_algebra/level3/magnitudes.hpp"
#include "inverse_model.hpp"

namespace tessera::linear_algebra {
namespace {

/// The columns that are computed at once. No bit depends on it.
constexpr Index small_block = 32, large_block = 96;

/// U·Uᴴ for an upper triangle U, or Lᴴ·L for a lower one, whose transpose is U: then all blocks are transposed, and the
/// conjugates are the other factors'. Both are Hermitian, so that the transpose of U·Uᴴ in memory is that product.
template <class T>
class TriangleSquare {
 public:
  TriangleSquare(const Products<T>& products, Triangle triangle, Index n, Block<T> a)
      : products_(products),
        is_upper_(triangle == Triangle::Upper),
        n_(n),
        block_(std::min(n, n < 400 ? small_block : large_block)),
        a_(a),
        rows_(block_ * n),
        sums_(block_ * n) {}

  void run() const {
    for (Index begin = 0; begin < n_; begin += block_) {
      const Index size = std::min(block_, n_ - begin);
      const Block<T> rows = copy_rows(begin, size);
      if (begin > 0) {
        const Block<T> sums{sums_.data(), is_upper_ ? size : begin};
        multiply(begin, at(a_, 0, begin), begin, rows, size, sums);
        copy(begin, size, sums, at(a_, 0, begin));
      }
      const Block<T> square{sums_.data(), size};
      multiply(begin, rows, size, rows, size, square);
      for (Index i = 0; i < size; ++i) {
        const Index first = is_upper_ ? i : 0, end = is_upper_ ? size : i + 1;
        *square.at(i, i) = real_part(*square.at(i, i));
        std::copy(square.at(i, first), square.at(i, end), a_.at(begin + i, begin + first));
      }
    }
  }

 private:
  /// Returns the block from U's row and column on.
  Block<T> at(Block<T> u, Index row, Index column) const {
    return is_upper_ ? u.from(row, column) : u.from(column, row);
  }
  void copy(Index rows, Index cols, Block<T> from, Block<T> to) const {
    const Index stored_rows = is_upper_ ? rows : cols, stored_cols = is_upper_ ? cols : rows;
    for (Index i = 0; i < stored_rows; ++i) std::copy(from.at(i, 0), from.at(i, stored_cols), to.at(i, 0));
  }

  /// Copies the rows begin … begin + size − 1 of U, from column `begin` on, with a real diagonal.
  Block<T> copy_rows(Index begin, Index size) const {
    const Block<T> from = at(a_, begin, begin), rows{rows_.data(), is_upper_ ? n_ - begin : size};
    for (Index i = 0; i < size; ++i) {
      T* const to = rows.at(i, 0);
      std::fill(is_upper_ ? to : to + i, is_upper_ ? to + i : to + size, T(0));
      std::copy(from.at(i, is_upper_ ? i : 0), from.at(i, is_upper_ ? size : i + 1), to + (is_upper_ ? i : 0));
      to[i] = real_part(to[i]);
    }
    copy(size, n_ - begin - size, at(from, 0, size), at(rows, 0, size));
    return rows;
  }

  /// C = X·Yᴴ of some rows of U each, from column `begin` on, segment by segment.
  void multiply(Index begin, Block<T> x, Index m, Block<T> y, Index n, Block<T> c) const {
    for (Index k = begin; k < n_;) {
      const Index end = std::min(n_, (k / segment_length<T> + 1) * segment_length<T>);
      const Factor<T> left{at(x, 0, k - begin)}, right{at(y, 0, k - begin)};
      const T beta = k == begin ? T(0) : T(1);
      if (is_upper_)
        products_.multiply(1, m, n, end - k, left, right.transposed().conjugated(), beta, c);
      else
        products_.multiply(1, n, m, end - k, right.transposed().conjugated(), left, beta, c);
      k = end;
    }
  }

  const Products<T>& products_;
  bool is_upper_;
  Index n_, block_;
  Block<T> a_;
  Scratch<T> rows_, sums_;
};

template <class T>
void multiply(Triangle triangle, Index n, Block<T> a, const SolveOptions& options, detail::Shortage shortage) {
  const bool is_upper = triangle == Triangle::Upper;
  const auto by_formula = [&] { model_square(is_upper ? Op::None : Op::Transpose, n, a); };
  const NumbersInRows<T> all{.rows = n,
                             .first = a.data,
                             .step = is_upper ? a.ld + 1 : a.ld,
                             .count = is_upper ? n : 1,
                             .more = is_upper ? -1 : 1};
  if (options.backend == Backend::Reference || !magnitudes_of(all).are_finite) return by_formula();
  const auto blocked = [&] {
    const Products<T> products(options, shortage);
    const TriangleSquare<T> square(products, triangle, n, a);
    products.run_steps(product_work(n, n, n) / 6, [&] { square.run(); });
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
template void multiply_by_transpose(Triangle, Index, std::complex<float>*, Index, const SolveOptions&, Shortage);
template void multiply_by_transpose(Triangle, Index, std::complex<double>*, Index, const SolveOptions&, Shortage);

} // namespace tessera::detail
