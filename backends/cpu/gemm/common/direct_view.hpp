#pragma once

/// A product as the direct micro-kernels see it, with vectors along the columns or along the rows of C.

#include <tessera/backend/kernel.hpp>

namespace tessera::cpu {

/// The product A·B of m×k and k×n elements. Element (i, p) of A is at a[i·a_row + p·a_step], element (p, j) of B at
/// b[p·b_step + j·b_col]. Vectors lie along n.
///
/// `swapped`: it is Cᵀ = op(B)ᵀ·op(A)ᵀ, whose columns are the rows of C. Each element's chain has the products of C's
/// element in their order, so that no bit changes.
template <class T>
struct DirectView {
  Index m, n, k;
  const T* a;
  Index a_row, a_step;
  const T* b;
  Index b_step, b_col;
  bool swapped;

  explicit DirectView(const GemmOperands<T>& x, bool swap = false)
      : m(swap ? x.n : x.m), n(swap ? x.m : x.n), k(x.k), a(swap ? x.b : x.a), b(swap ? x.a : x.b), swapped(swap) {
    const bool a_flips = x.op_a == Op::Transpose, b_flips = x.op_b == Op::Transpose;
    const Index row_a = a_flips ? 1 : x.lda, step_a = a_flips ? x.lda : 1;
    const Index step_b = b_flips ? 1 : x.ldb, col_b = b_flips ? x.ldb : 1;
    a_row = swap ? col_b : row_a;
    a_step = swap ? step_b : step_a;
    b_step = swap ? step_a : step_b;
    b_col = swap ? row_a : col_b;
  }

  /// Says whether the columns of B lie along k. Vectors along n then need a transpose.
  bool is_across() const { return b_col != 1; }
};

} // namespace tessera::cpu
