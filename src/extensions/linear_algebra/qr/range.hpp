#pragma once

/// The power of two that brings numbers into the range of least squares (docs/contract.md, "QR").

namespace tessera::linear_algebra {

/// Returns the exponent for numbers of P, float or double, of which `largest` is the largest magnitude; 0 where they
/// need none, are all 0 or not finite.
template <class P>
int range_exponent(double largest);

} // namespace tessera::linear_algebra
