#pragma once

/// The power of two that brings numbers into the range of least squares (docs/contract.md, "QR").

namespace tessera::linear_algebra {

/// Returns the exponent for numbers of this largest magnitude; 0 where they need none, are all 0 or not finite. For
/// float and double.
template <class P>
int range_exponent(P largest);

} // namespace tessera::linear_algebra
