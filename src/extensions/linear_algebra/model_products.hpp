#pragma once

/// The contract's formulas of the level 3 BLAS as code, element by element (docs/contract.md, "Linear algebra"): what
/// Backend::Reference computes, and what the blocked algorithms must equal to the bit. They need no memory.

#include "products.hpp"

namespace tessera::linear_algebra {

/// A matrix in host memory whose neighbours lie any number of elements apart, also backwards.
template <class T>
struct Grid {
  T* data = nullptr;
  Index of_row = 0, of_column = 1;

  T& at(Index i, Index j) const { return data[i * of_row + j * of_column]; }
  Grid transposed() const { return {data, of_column, of_row}; }
  /// Returns the matrix m×n with rows and columns counted from the last one.
  Grid turned_round(Index m, Index n) const { return {&at(m - 1, n - 1), -of_row, -of_column}; }
};

/// A triangular matrix M, and lines X that it meets. On the left side they are columns, M·X; on the right side rows,
/// X·Mᵀ, so that M stands for the transpose of what the caller has there.
template <class T>
struct Lines {
  Side side = Side::Left;
  Grid<const T> m;
  bool conjugate = false; ///< M is the conjugate of what is stored
  bool has_unit_diagonal = false;
  Index n = 0, count = 0;
  Grid<T> x; ///< n×count, on either side
};

/// Solves M·X = B, where M is lower triangular; X takes B's place.
template <class T>
void model_solve(const Lines<T>& lines);
/// X becomes alpha·M·X, where M is a lower triangle or an upper one.
template <class T>
void model_multiply(Triangle triangle, T alpha, const Lines<T>& lines);

/// A symmetric or Hermitian matrix of which a triangle is stored.
template <class T>
struct HalfStored {
  Triangle triangle = Triangle::Lower;
  bool is_hermitian = false; ///< then the imaginary parts of the diagonal are taken as 0
  Index n = 0;
  Block<const T> stored;

  T at(Index i, Index j) const {
    const bool inside = triangle == Triangle::Lower ? i >= j : i <= j;
    const T x = inside ? *stored.at(i, j) : *stored.at(j, i);
    return !is_hermitian ? x : i == j ? real_part(x) : conjugated_if(!inside, x);
  }
};

/// C = alpha·A·B + beta·C on the left side, and alpha·B·A + beta·C on the right; C is m×n.
template <class T>
void model_symmetric(Side side, Index m, Index n, T alpha, const HalfStored<T>& a, Block<const T> b, T beta,
                     Block<T> c);

/// A triangle of C, n×n.
template <class T>
struct TriangleOf {
  Triangle triangle = Triangle::Lower;
  bool is_hermitian = false; ///< then the imaginary parts of the diagonal become 0
  Index n = 0;
  Block<T> c;

  Index begin(Index i) const { return triangle == Triangle::Lower ? 0 : i; }   ///< of row i
  Index end(Index i) const { return triangle == Triangle::Lower ? i + 1 : n; } ///< of row i
};

/// The triangle of C = alpha·A·B + beta·C, over k terms.
template <class T>
void model_triangle(const TriangleOf<T>& to, Index k, T alpha, Factor<T> a, Factor<T> b, T beta);

} // namespace tessera::linear_algebra
