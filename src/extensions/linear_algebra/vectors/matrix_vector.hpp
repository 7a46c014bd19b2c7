#pragma once

/// The BLAS's level 2 that reads a matrix: products and triangular systems. docs/contract.md ("Linear algebra") has the
/// order of additions. Vectors and results do not overlap matrices; x and y do not overlap. Sizes are not 0.

#include "columns.hpp"

namespace tessera::vectors {

/// y := alpha·op(A)·x + beta·y; alpha = 0 leaves A and x unread, and beta = 0 leaves y unread.
template <class N>
TESSERA_API void multiply(const Columns<const N>& a, Form form, const N& alpha, const Strided<const N>& x,
                          const N& beta, const Strided<N>& y) noexcept;

/// A symmetric or Hermitian matrix by one of its triangles.
template <class N>
struct Symmetric {
  Columns<const N> stored; ///< with OnDiagonal::Real where it is Hermitian
  Half half;
  bool is_hermitian = false;
  bool is_conjugated = false; ///< the matrix is the conjugate of what is stored
};
/// y := alpha·A·x + beta·y. It reads the triangle once, with room for a number a row; where there is no such memory it
/// says so on stderr, for `routine`, and reads the triangle twice.
template <class N>
TESSERA_API void multiply(const char* routine, const Symmetric<N>& a, const N& alpha, const Strided<const N>& x,
                          const N& beta, const Strided<N>& y) noexcept;

/// x := op(T)·x and x := op(T)⁻¹·x, T being a triangle.
template <class N>
TESSERA_API void multiply_triangle(const Columns<const N>& t, Half half, Form form, const Strided<N>& x) noexcept;
template <class N>
TESSERA_API void solve_triangle(const Columns<const N>& t, Half half, Form form, const Strided<N>& x) noexcept;

} // namespace tessera::vectors
