#pragma once

/// The steps of a factorisation that are no products: each continues the running sums of elements by the terms that lie
/// within a panel, and divides. docs/contract.md ("Linear algebra") has the order of additions; `s` holds the sums of
/// the terms before the panel, which belong to the same segment of k.
///
/// Matrices are row-major in host memory. Nothing is checked.

#include "numbers.hpp"
#include "substitution.hpp"

namespace tessera::linear_algebra {

/// Factors the lower triangle of a symmetric or Hermitian block, size×size, at most panel_width: A = L·Lᴴ. L takes A's
/// place; above the diagonal nothing is read or written. `s` may be overwritten. Returns `size`, or the row at which
/// the number below the root is not positive; the rows before it are done.
template <class T>
Index factor_positive(Index size, T* a, Index lda, T* s, Index lds);

/// Elements after the rows of an LU panel's column that may be read and overwritten in vain.
template <class T>
inline constexpr Index panel_padding = Index{256} / static_cast<Index>(sizeof(T));

/// A panel of an LU factorisation, rows×width, where width is at most rows and at most panel_width. It is stored by
/// columns, which are searched for pivots, and each column as its real parts and then its imaginary ones: part p of
/// element (r, c) is a[(c·parts + p)·ld + r]. ld is at least rows + panel_padding<T>. Both blocks are overwritten.
template <class T>
struct LuPanel {
  Index rows = 0, width = 0;
  Part<T>* a = nullptr; ///< becomes L, without its diagonal of ones, and U
  Part<T>* s = nullptr;
  Index ld = 0;

  Part<T>* column(Index c) const { return a + c * Number<T>::parts * ld; }
  Part<T>* sums(Index c) const { return s + c * Number<T>::parts * ld; }
};

/// Factors a panel. In column j the row of the largest magnitude, pivots[j], changes places with row j; NaN counts as
/// the largest, and of equals the first is taken. A column whose pivot is 0 is not divided. Returns the first such
/// column, or −1.
template <class T>
Index factor_panel(const LuPanel<T>& panel, Index* pivots);

} // namespace tessera::linear_algebra
