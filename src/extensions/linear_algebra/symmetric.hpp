#pragma once

/// Products that are symmetric or Hermitian, of which one triangle is computed: rectangles beside the diagonal are
/// ordinary products, and small blocks on it go through scratch memory on the stack. Nothing outside the triangle is
/// read or written.

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "model_products.hpp"

namespace tessera::linear_algebra {

/// The most rows of a block on the diagonal, half of which is computed in vain. No bit depends on it.
inline constexpr Index diagonal_size = 32;

/// The most rows of a triangle that one thread computes, while other threads compute others.
inline constexpr Index triangle_of_a_thread = 64;

/// The parts of a triangle of C.
template <class T, class Rectangle>
class TriangleParts {
 public:
  /// rectangle(products, m, n, i, j, beta, c) computes the m×n numbers of C from row i and column j on, which are at c.
  TriangleParts(const Products<T>& products, const TriangleOf<T>& whole, T beta, const Rectangle& rectangle)
      : products_(products),
        alone_(products.alone()),
        beta_(beta),
        rectangle_(rectangle),
        size_(whole.n < 512 && !fills_vectors ? diagonal_size / 2 : diagonal_size) {
    if (products_.threads() == 1) { // one after another, neighbours find what they share in the caches
      compute(products_, whole, 0);
      return;
    }
    small_.reserve(static_cast<std::size_t>(2 * whole.n / triangle_of_a_thread + 1));
    compute_large(whole, 0);
    products_.run_tasks(std::ssize(small_), [this](Index task) {
      const Small& small = small_[static_cast<std::size_t>(task)];
      compute(alone_, small.triangle, small.first);
    });
  }

 private:
  struct Small {
    TriangleOf<T> triangle;
    Index first; ///< its first row and column in the whole
  };

  /// Computes the rectangles of the triangle from row and column `first` on, and notes its small triangles.
  void compute_large(const TriangleOf<T>& to, Index first) {
    if (to.n <= triangle_of_a_thread) return small_.push_back({to, first});
    const Halves halves = cut(to);
    compute_large(halves.upper, first);
    compute_rectangle(products_, to, halves, first);
    compute_large(halves.lower, first + halves.upper.n);
  }
  /// Computes the whole triangle.
  void compute(const Products<T>& products, const TriangleOf<T>& to, Index first) const {
    if (to.n <= size_) return compute_diagonal(products, to, first);
    const Halves halves = cut(to);
    compute(products, halves.upper, first);
    compute_rectangle(products, to, halves, first);
    compute(products, halves.lower, first + halves.upper.n);
  }

  struct Halves {
    TriangleOf<T> upper, lower; ///< triangles along the diagonal, beside a rectangle
  };
  Halves cut(const TriangleOf<T>& to) const {
    const Index half = (to.n / 2 + size_ - 1) / size_ * size_;
    return {{to.triangle, to.is_hermitian, half, to.c},
            {to.triangle, to.is_hermitian, to.n - half, to.c.from(half, half)}};
  }
  void compute_rectangle(const Products<T>& products, const TriangleOf<T>& to, const Halves& halves,
                         Index first) const {
    const Index half = halves.upper.n, rest = halves.lower.n;
    if (to.triangle == Triangle::Lower)
      rectangle_(products, rest, half, first + half, first, beta_, to.c.from(half, 0));
    else
      rectangle_(products, half, rest, first, first + half, beta_, to.c.from(0, half));
  }

  void compute_diagonal(const Products<T>& products, const TriangleOf<T>& to, Index first) const {
    T memory[diagonal_size * diagonal_size] = {};
    const Block<T> scratch{memory, diagonal_size};
    if (beta_ != T(0)) copy(to, to.c, scratch);
    rectangle_(products, to.n, to.n, first, first, beta_, scratch);
    if (to.is_hermitian)
      for (Index i = 0; i < to.n; ++i) *scratch.at(i, i) = real_part(*scratch.at(i, i));
    copy(to, scratch, to.c);
  }

  /// Copies the triangle of a block, whose other half is not touched.
  static void copy(const TriangleOf<T>& like, Block<T> from, Block<T> to) {
    for (Index i = 0; i < like.n; ++i)
      std::copy(from.at(i, like.begin(i)), from.at(i, like.end(i)), to.at(i, like.begin(i)));
  }

  /// A block of half the size would leave half of a tile's vectors empty.
  static constexpr bool fills_vectors = std::is_same_v<T, float>;

  const Products<T>& products_;
  Products<T> alone_; ///< for tasks
  T beta_;
  const Rectangle& rectangle_;
  Index size_;
  std::vector<Small> small_;
};

/// A product of a sum.
template <class T>
struct Term {
  T alpha;
  Factor<T> a, b; ///< n×k and k×n
};

/// Computes terms by products that the backend restricts to a triangle of C, and returns how many it has computed: it
/// need not take the first one, or may find memory short before another one.
template <class T>
std::size_t terms_as_stored(const Products<T>& products, const TriangleOf<T>& to, Index k,
                            std::span<const Term<T>> terms, T beta) {
  std::size_t done = 0;
  for (const Term<T>& term : terms) {
    if (!products.multiply_as_stored({.m = to.n,
                                      .n = to.n,
                                      .k = k,
                                      .alpha = detail::exact_double(term.alpha),
                                      .a = as_stored(term.a),
                                      .b = as_stored(term.b),
                                      .beta = detail::exact_double(done == 0 ? beta : T(1)),
                                      .c = to.c.data,
                                      .ldc = to.c.ld,
                                      .part = part_of(to.triangle),
                                      .has_real_diagonal = to.is_hermitian}))
      break;
    ++done;
  }
  return done;
}

/// The triangle of C = alpha·A·B + beta·C for the first term, to which the other terms are added one after another.
/// Each element has the bits of the whole products'.
template <class T>
void triangle_product(const Products<T>& products, const TriangleOf<T>& to, Index k, std::span<const Term<T>> terms,
                      T beta) {
  const auto rectangle = [&](const Products<T>& by, Index m, Index n, Index i, Index j, T scale, Block<T> c) {
    for (const Term<T>& term : terms) {
      by.multiply(term.alpha, m, n, k, term.a.from(i, 0), term.b.from(0, j), scale, c);
      scale = T(1);
    }
  };
  TriangleParts(products, to, beta, rectangle);
}

/// The triangle of C = alpha·A·B + C, by the way that the backend takes.
template <class T>
void add_term(const Products<T>& products, const TriangleOf<T>& to, Index k, const Term<T>& term) {
  const std::span<const Term<T>> terms(&term, 1);
  if (terms_as_stored(products, to, k, terms, T(1)) == 0) triangle_product(products, to, k, terms, T(1));
}

} // namespace tessera::linear_algebra
