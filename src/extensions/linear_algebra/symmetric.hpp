#pragma once

/// Products that are symmetric, of which one triangle is computed: rectangles beside the diagonal are ordinary
/// products, and small blocks on it go through scratch memory on the stack. Nothing outside the triangle is read or
/// written.

#include "products.hpp"

namespace tessera::linear_algebra {

/// The triangle of C = alpha·A·Aᵀ + beta·C, where A is n×k. Each element has the bits of the whole product's.
template <class T>
void symmetric_product(const Products<T>& products, Triangle triangle, Index n, Index k, T alpha, Factor<T> a, T beta,
                       Block<T> c);

} // namespace tessera::linear_algebra
