#pragma once

/// Products that are symmetric or Hermitian, of which one triangle is computed: rectangles beside the diagonal are
/// ordinary products, and small blocks on it go through scratch memory on the stack. Nothing outside the triangle is
/// read or written.

#include "model_products.hpp"

namespace tessera::linear_algebra {

/// The triangle of C = alpha·A·B + beta·C, where A is n×k. Each element has the bits of the whole product's.
template <class T>
void triangle_product(const Products<T>& products, const TriangleOf<T>& to, Index k, T alpha, Factor<T> a, Factor<T> b,
                      T beta);

} // namespace tessera::linear_algebra
