#pragma once

/// Products that are symmetric or Hermitian, of which one triangle is computed: rectangles beside the diagonal are
/// ordinary products, and small blocks on it go through scratch memory on the stack. Nothing outside the triangle is
/// read or written.

#include <algorithm>
#include <span>

#include "model_products.hpp"

namespace tessera::linear_algebra {

/// The most rows of a block on the diagonal, half of which is computed in vain. No bit depends on it.
inline constexpr Index diagonal_size = 32;

/// A part of a triangle of C.
template <class T, class Rectangle>
class TriangleParts {
 public:
  /// rectangle(m, n, i, j, beta, c) computes the m×n numbers of C from row i and column j on, which are at c.
  TriangleParts(const TriangleOf<T>& whole, T beta, const Rectangle& rectangle)
      : beta_(beta), rectangle_(rectangle), size_(whole.n < 512 ? diagonal_size / 2 : diagonal_size) {
    compute(whole, 0);
  }

 private:
  /// Computes the triangle from row and column `first` on.
  void compute(const TriangleOf<T>& to, Index first) const {
    if (to.n <= size_) return compute_diagonal(to, first);
    const Index half = (to.n / 2 + size_ - 1) / size_ * size_, rest = to.n - half;
    compute({to.triangle, to.is_hermitian, half, to.c}, first);
    if (to.triangle == Triangle::Lower)
      rectangle_(rest, half, first + half, first, beta_, to.c.from(half, 0));
    else
      rectangle_(half, rest, first, first + half, beta_, to.c.from(0, half));
    compute({to.triangle, to.is_hermitian, rest, to.c.from(half, half)}, first + half);
  }

  void compute_diagonal(const TriangleOf<T>& to, Index first) const {
    T memory[diagonal_size * diagonal_size] = {};
    const Block<T> scratch{memory, diagonal_size};
    if (beta_ != T(0)) copy(to, to.c, scratch);
    rectangle_(to.n, to.n, first, first, beta_, scratch);
    if (to.is_hermitian)
      for (Index i = 0; i < to.n; ++i) *scratch.at(i, i) = real_part(*scratch.at(i, i));
    copy(to, scratch, to.c);
  }

  /// Copies the triangle of a block, whose other half is not touched.
  static void copy(const TriangleOf<T>& like, Block<T> from, Block<T> to) {
    for (Index i = 0; i < like.n; ++i)
      std::copy(from.at(i, like.begin(i)), from.at(i, like.end(i)), to.at(i, like.begin(i)));
  }

  T beta_;
  const Rectangle& rectangle_;
  Index size_;
};

/// A product of a sum.
template <class T>
struct Term {
  T alpha;
  Factor<T> a, b; ///< n×k and k×n
};

/// The triangle of C = alpha·A·B + beta·C for the first term, to which the other terms are added one after another.
/// Each element has the bits of the whole products'.
template <class T>
void triangle_product(const Products<T>& products, const TriangleOf<T>& to, Index k, std::span<const Term<T>> terms,
                      T beta) {
  const auto rectangle = [&](Index m, Index n, Index i, Index j, T scale, Block<T> c) {
    for (const Term<T>& term : terms) {
      products.multiply(term.alpha, m, n, k, term.a.from(i, 0), term.b.from(0, j), scale, c);
      scale = T(1);
    }
  };
  TriangleParts(to, beta, rectangle);
}

} // namespace tessera::linear_algebra
