#pragma once

/// The steps of a QR factorisation within a panel of columns, in memory of their own: reflections, which are found and
/// applied one by one within a group of columns, and the triangle T of a panel's block reflection. docs/contract.md
/// ("QR") has the order of operations.
///
/// Source: Householder (1958); Schreiber and Van Loan, "A storage-efficient WY representation for products of
/// Householder transformations" (1989).

#include "extensions/linear_algebra/numbers.hpp"

namespace tessera::linear_algebra {

/// The columns of a panel, and of a group within it. Bits depend on both.
inline constexpr Index reflection_panel = 32, reflection_group = 8;

/// Elements after the rows of a panel's column that are zero, and are read and overwritten with zero in vain.
template <class T>
inline constexpr Index reflection_padding = Index{256} / static_cast<Index>(sizeof(T));

/// A panel, rows×width, where width is at most rows and at most reflection_panel. Each column is stored as its real
/// parts and then its imaginary ones: part p of element (r, c) is v[(c·parts + p)·ld + r], and ld is at least rows +
/// reflection_padding<T>.
template <class T>
struct ReflectionPanel {
  Index rows = 0, width = 0;
  Part<T>* v = nullptr; ///< becomes V, with its ones on the diagonal and zeros above it
  Index ld = 0;
  Part<T>* by_rows = nullptr; ///< scratch memory for the parts of rows·reflection_group elements

  Part<T>* column(Index c) const { return v + c * Number<T>::parts * ld; }
};

/// The small matrices of a panel, by rows.
template <class T>
struct SmallMatrix {
  alignas(64) T values[reflection_panel * reflection_panel] = {};

  T& at(Index i, Index j) { return values[i * reflection_panel + j]; }
  const T& at(Index i, Index j) const { return values[i * reflection_panel + j]; }
};

/// Factors a panel: R(i, c) is left in r.at(c, i), the factors of the reflections in `tau`, and T in `t`.
template <class T>
void factor_reflections(const ReflectionPanel<T>& panel, SmallMatrix<T>& r, T* tau, SmallMatrix<T>& t);

/// Computes T of `width` reflections from g.at(i, k), k < i: the sum of v(k)·v(i), the second one conjugated.
template <class T>
void make_triangle(Index width, const SmallMatrix<T>& g, const T* tau, SmallMatrix<T>& t);

} // namespace tessera::linear_algebra
