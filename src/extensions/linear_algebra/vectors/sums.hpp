#pragma once

/// The sums of the BLAS's level 1. docs/contract.md ("Linear algebra") has the order of additions, so that no bit
/// depends on vectors, steps or alignment. Nothing is allocated.
///
/// A complex vector is a real one of twice as many elements for asum and nrm2.

#include "strided.hpp"

namespace tessera::vectors {

/// Returns the sum of x(i)·y(i), or of conj(x(i))·y(i). N is a real or a complex type.
template <class N>
TESSERA_API N dot(const Strided<const N>& x, const Strided<const N>& y, bool conjugates_x = false) noexcept;

/// Returns the sum of x(i)·y(i) in double.
TESSERA_API double dot_in_double(const Strided<const float>& x, const Strided<const float>& y) noexcept;
/// Returns that sum plus b, rounded to float.
TESSERA_API float dot_rounded_once(float b, const Strided<const float>& x, const Strided<const float>& y) noexcept;

/// Returns the sum of the magnitudes of all parts.
template <class N>
TESSERA_API RealOf<N> asum(const Strided<const N>& x) noexcept;

/// Returns the root of the sum of squares of all parts.
template <class N>
TESSERA_API RealOf<N> nrm2(const Strided<const N>& x) noexcept;

/// Returns the first place of the largest |x(i)|, or |re| + |im|; NaN is larger than any number. −1: x is empty.
template <class N>
TESSERA_API Index iamax(const Strided<const N>& x) noexcept;

} // namespace tessera::vectors
