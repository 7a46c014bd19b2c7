#pragma once

/// A triangular matrix M and lines X that it meets: the columns of X in M·X, or the rows in X·Mᵀ. One algorithm serves
/// both sides, because it speaks of the numbers i of all lines where it means rows of X, or columns.

#include <tessera/linear_algebra/triangular.hpp>

#include "model_products.hpp"
#include "substitution.hpp"

namespace tessera::linear_algebra {

/// The fewest lines that are worth a thread's while.
inline constexpr Index lines_for_a_thread = 64;

/// Returns the triangle M as it is stored.
template <class T>
StoredOperand triangle_of(const Factor<T>& m, bool is_lower, bool has_unit_diagonal) {
  StoredOperand triangle = as_stored(m);
  triangle.part = is_lower != triangle.is_transposed ? MatrixPart::Lower : MatrixPart::Upper;
  triangle.kind = TriangleKind::Triangular;
  triangle.has_unit_diagonal = has_unit_diagonal;
  return triangle;
}

template <class T>
class Sided {
 public:
  Sided(const Products<T>& products, Side side, Index count, Block<T> x)
      : products_(products), is_left_(side == Side::Left), count_(count), x_(x) {}

  bool is_left() const { return is_left_; }
  /// Returns X from number i on.
  Block<T> numbers(Index i) const { return is_left_ ? x_.from(i, 0) : x_.from(0, i); }
  /// Returns `to` from line l on.
  Block<T> lines(Block<T> to, Index l) const { return is_left_ ? to.from(0, l) : to.from(l, 0); }
  /// Returns scratch memory for `size` numbers of each line.
  Block<T> scratch(T* memory, Index size) const { return {memory, is_left_ ? count_ : size}; }

  /// S = M·X for the rectangle of M from m on, rows×k, and the numbers of X from `first` on.
  void sums(Index rows, Index k, Factor<T> m, Index first, Block<T> s) const {
    const Factor<T> x{numbers(first)};
    is_left_ ? products_.sums(rows, count_, k, m, x, s) : products_.sums(count_, rows, k, x, m.transposed(), s);
  }
  /// S = alpha·M·X, with k > 0.
  void multiply(T alpha, Index rows, Index k, Factor<T> m, Index first, Block<T> s) const {
    const Factor<T> x{numbers(first)};
    if (is_left_)
      products_.multiply(alpha, rows, count_, k, m, x, T(0), s);
    else
      products_.multiply(alpha, count_, rows, k, x, m.transposed(), T(0), s);
  }
  /// The numbers of X from `to` on become alpha·M·X + X, with the numbers of X from `first` on as factors.
  void add(T alpha, Index rows, Index k, Factor<T> m, Index first, Index to) const {
    const Factor<T> x{numbers(first)};
    if (is_left_)
      products_.multiply(alpha, rows, count_, k, m, x, T(1), numbers(to));
    else
      products_.multiply(alpha, count_, rows, k, x, m.transposed(), T(1), numbers(to));
  }

  /// Lets the backend compute the numbers of X from `first` on with a triangle of order n, at most a segment's length,
  /// if it has tiles for that. Returns false, and has written nothing, if it has not.
  bool computes_in_tiles(TriangleTask task, Index first, Index n, const StoredOperand& m, T alpha = T(1)) const {
    return products_.compute_in_tiles({.task = task,
                                       .lines_come_first = !is_left_,
                                       .n = n,
                                       .count = count_,
                                       .m = m,
                                       .alpha = detail::exact_double(alpha),
                                       .x = numbers(first).data,
                                       .line_step = is_left_ ? 1 : x_.ld,
                                       .number_step = is_left_ ? x_.ld : 1});
  }

  template <class Body>
  void in_parts(const Body& body) const {
    products_.in_parts(count_, lines_for_a_thread, body);
  }

 private:
  const Products<T>& products_;
  bool is_left_;
  Index count_;
  Block<T> x_;
};

/// The lower triangle of a block of M on the diagonal, as panels read it from beginning to end.
template <class T>
class DiagonalBlock {
 public:
  /// The block of M from row `first` on; `size` is at most panel_width.
  DiagonalBlock(const Factor<T>& m, Index first, Index size, bool has_unit_diagonal)
      : block_{.size = size, .t = values_, .ld = panel_width, .has_unit_diagonal = has_unit_diagonal} {
    for (Index i = 0; i < block_.size; ++i) {
      const Run<T> row = m.row(first + i, first);
      for (Index k = 0; k < i + Index{!has_unit_diagonal}; ++k) values_[i * panel_width + k] = row.at(k);
    }
  }
  DiagonalBlock(const DiagonalBlock&) = delete;
  DiagonalBlock& operator=(const DiagonalBlock&) = delete;

  const TriangleBlock<T>& block() const { return block_; }

 private:
  T values_[panel_width * panel_width];
  TriangleBlock<T> block_;
};

/// What a call means for the algorithms: op(T), or op(T)ᵀ on the right side, is M.
template <class T>
struct SidedCall {
  explicit SidedCall(const detail::TriangularCall<T>& call)
      : m(call.side == Side::Left ? Factor<T>::of({call.t, call.ldt}, call.op)
                                  : Factor<T>::of({call.t, call.ldt}, call.op).transposed()),
        is_lower((call.triangle == Triangle::Lower) == (m.op == Op::None)),
        has_unit_diagonal(call.diagonal == Diagonal::Unit) {}

  Factor<T> m;
  bool is_lower; ///< M is
  bool has_unit_diagonal;

  StoredOperand triangle() const { return triangle_of(m, is_lower, has_unit_diagonal); }

  /// Returns what the formulas are given.
  Lines<T> lines(const detail::TriangularCall<T>& call) const {
    const Grid<const T> stored{m.stored.data, m.stored.ld};
    const Grid<T> x{call.b, call.ldb};
    return {.side = call.side,
            .m = m.op == Op::None ? stored : stored.transposed(),
            .conjugate = m.conjugate,
            .has_unit_diagonal = has_unit_diagonal,
            .n = call.n,
            .count = call.count,
            .x = call.side == Side::Left ? x : x.transposed()};
  }
};

/// Returns how many multiply-adds a call has.
template <class T>
double work_of(const detail::TriangularCall<T>& call) {
  return product_work(call.n, call.n, call.count) / 2;
}

/// B := alpha·B, rows×cols. Zeros take no NaN from B.
template <class T>
void scale(T alpha, Index rows, Index cols, Block<T> b);
template <class T>
void scale(const detail::TriangularCall<T>& call, Block<T> b) {
  const bool is_left = call.side == Side::Left;
  if (call.alpha != T(1)) scale(call.alpha, is_left ? call.n : call.count, is_left ? call.count : call.n, b);
}

} // namespace tessera::linear_algebra
