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
  Factor<T> rectangle(Index i, Index k) const {
    return {m.op == Op::None ? m.stored.from(i, k) : m.stored.from(k, i), m.op};
  }
  /// Returns its transpose.
  Factor<T> transposed_rectangle(Index i, Index k) const {
    const Factor<T> straight = rectangle(i, k);
    return {straight.stored, straight.op == Op::None ? Op::Transpose : Op::None};
  }
};

/// Solves M·X = B, X being n×count in B's place.
template <class T>
void solve_left(const Products<T>& products, const ForwardTriangle<T>& triangle, Index count, Block<T> x);
/// Solves X·Mᵀ = B, X being count×n in B's place.
template <class T>
void solve_right(const Products<T>& products, const ForwardTriangle<T>& triangle, Index count, Block<T> x);

} // namespace tessera::linear_algebra
