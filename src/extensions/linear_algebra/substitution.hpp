#pragma once

/// A block of a triangle and lines of unknowns: the steps of triangular systems and products that are no products of
/// rectangles. Each goes on with the running sums `s` of terms that belong to the same segment of k; docs/contract.md
/// ("Linear algebra") has the order of additions.
///
/// Matrices are row-major in host memory. Nothing is checked.

#include <tessera/types.hpp>

namespace tessera::linear_algebra {

/// The columns of a panel. No bit depends on it.
inline constexpr Index panel_width = 64;

/// A lower triangle. `size` is at most panel_width.
template <class T>
struct TriangleBlock {
  Index size = 0;
  const T* t = nullptr; ///< t(i, k) is t[i·ld + k]
  Index ld = 0;
  bool has_unit_diagonal = false; ///< then t(i, i) is not read
};

/// Solves T·X = B for `count` columns: X takes B's place, size×count. x(i) = (b(i) − s(i)) / t(i, i), where s(i) goes
/// on with t(i, k)·x(k) for k = 0 … i − 1. A unit diagonal divides nothing.
template <class T>
void solve_columns(const TriangleBlock<T>& triangle, Index count, T* x, Index ldx, const T* s, Index lds);
/// Where number i of line l lies, in memory that holds the lines in any way.
struct Place {
  Index of_line = 0, of_number = 0; ///< strides
  Index operator()(Index line, Index number) const { return line * of_line + number * of_number; }
};
/// Which of the two is the first factor of each term: t(i, k), or x(k) (numbers.hpp).
enum class First { Triangle, Line };
/// Does what solve_columns() does for lines that lie anywhere.
template <class T>
void solve_lines(First first, const TriangleBlock<T>& triangle, Index count, T* x, Place place_x, const T* s,
                 Place place_s);
/// Solves X·Tᵀ = B for `count` rows: X takes B's place, count×size. The terms are x(k)·t(i, k).
template <class T>
void solve_rows(const TriangleBlock<T>& triangle, Index count, T* x, Index ldx, const T* s, Index lds);

/// X becomes S + T·X for `count` columns, size×count: s(i) goes on with t(i, k)·x(k) for k = 0 … i, the last one of
/// which is 1·x(i) where the diagonal is one.
template <class T>
void multiply_columns(const TriangleBlock<T>& triangle, Index count, T* x, Index ldx, const T* s, Index lds);
/// X becomes S + X·Tᵀ for `count` rows, count×size. The terms are x(k)·t(i, k).
template <class T>
void multiply_rows(const TriangleBlock<T>& triangle, Index count, T* x, Index ldx, const T* s, Index lds);

} // namespace tessera::linear_algebra
