#pragma once

/// The BLAS's level 2 that writes a matrix: docs/contract.md ("Linear algebra") has the roundings of an element.

#include "columns.hpp"

namespace tessera::vectors {

/// A product of two vectors' elements, u(i) of the row and v(j) of the column, either of which may be conjugated.
template <class N>
struct Outer {
  Strided<const N> u, v;
  bool conjugates_u = false, conjugates_v = false;
  bool column_first = false; ///< the product is v(j)·u(i): the last bit of its imaginary part depends on that
  bool scales_u = false;     ///< alpha multiplies u(i), and else v(j)
};

/// a(i, j) := a(i, j) + u(i)·(alpha·v(j)), or (alpha·u(i))·v(j), for each stored element, where alpha is not 0. A
/// diagonal that is Real loses its imaginary part.
template <class N>
TESSERA_API void update(const Columns<N>& a, const N& alpha, const Outer<N>& outer) noexcept;
/// Does that with alpha and `outer`, and then with `beta` and `other`.
template <class N>
TESSERA_API void update(const Columns<N>& a, const N& alpha, const Outer<N>& outer, const N& beta,
                        const Outer<N>& other) noexcept;

} // namespace tessera::vectors
