#pragma once

/// The BLAS's level 1 that writes vectors, element by element in ascending order. docs/contract.md ("Linear algebra")
/// has the roundings. A complex vector that is multiplied by a real factor is a real one of twice as many elements.

#include "strided.hpp"

namespace tessera::vectors {

template <class N>
TESSERA_API void copy(const Strided<const N>& x, const Strided<N>& y) noexcept;
template <class N>
TESSERA_API void swap(const Strided<N>& x, const Strided<N>& y) noexcept;

/// y := alpha·x + y; alpha = 0 leaves y as it is.
template <class N>
TESSERA_API void axpy(const N& alpha, const Strided<const N>& x, const Strided<N>& y) noexcept;

/// x := alpha·x, also where alpha is 0.
template <class N>
TESSERA_API void scal(const N& alpha, const Strided<N>& x) noexcept;

/// A matrix of two rows and columns that pairs (x(i), y(i)) are multiplied by.
template <class R>
struct PairMatrix {
  R xx, xy; ///< x := xx·x + xy·y
  R yx, yy; ///< y := yx·x + yy·y
};
/// x := fma(xy, y, xx·x) and y := fma(yy, y, yx·x) of all parts.
template <class N>
TESSERA_API void transform(const PairMatrix<RealOf<N>>& matrix, const Strided<N>& x, const Strided<N>& y) noexcept;

} // namespace tessera::vectors
