#pragma once

/// Products that are symmetric or Hermitian, of which one triangle is computed: rectangles beside the diagonal are
/// ordinary products, and small blocks on it go through scratch memory on the stack. Nothing outside the triangle is
/// read or written.

#include <span>

#include "model_products.hpp"

namespace tessera::linear_algebra {

/// A product of a sum.
template <class T>
struct Term {
  T alpha;
  Factor<T> a, b; ///< n×k and k×n

  Term from(Index i, Index j) const { return {alpha, a.from(i, 0), b.from(0, j)}; }
};

/// The triangle of C = alpha·A·B + beta·C for the first term, to which the other terms are added one after another.
/// Each element has the bits of the whole products'.
template <class T>
void triangle_product(const Products<T>& products, const TriangleOf<T>& to, Index k, std::span<const Term<T>> terms,
                      T beta);

} // namespace tessera::linear_algebra
