#pragma once

/// Triangular systems with many right-hand sides. A system that is solved backwards is one that is solved forwards when
/// rows and columns are counted from the last one, and the contract says so: one algorithm serves all.

#include <tessera/linear_algebra/triangular.hpp>

#include "products.hpp"

namespace tessera::linear_algebra {

/// A lower triangle M that is solved forwards, n×n.
template <class T>
struct ForwardTriangle {
  Index n = 0;
  Factor<T> m;
  bool has_unit_diagonal = false;

  /// Returns the rectangle of M from (i, k) on, below the diagonal.
  Factor<T> rectangle(Index i, Index k) const { return m.from(i, k); }
  /// Returns its transpose.
  Factor<T> transposed_rectangle(Index i, Index k) const { return m.from(i, k).transposed(); }
};

/// Solves M·X = B, X being n×count in B's place. `sums` has room for count times panel_width or n elements, whichever
/// is less.
template <class T>
void solve_left(const Products<T>& products, const ForwardTriangle<T>& triangle, Index count, Block<T> x, T* sums);
/// Solves X·Mᵀ = B, X being count×n in B's place, with as much room.
template <class T>
void solve_right(const Products<T>& products, const ForwardTriangle<T>& triangle, Index count, Block<T> x, T* sums);

} // namespace tessera::linear_algebra
