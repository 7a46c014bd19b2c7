#pragma once

/// The LU factorisation whose products of whole segments have another mode.

#include <span>

#include <tessera/linear_algebra/options.hpp>

#include "products.hpp"

namespace tessera::linear_algebra {

/// May these products have this mode? Its bits must be defined for each element, and the host must have it.
constexpr bool may_factor_in(Math math) noexcept {
  return math == Math::Strict || math == Math::EmulatedFp16x3 || math == Math::ScaledFp16;
}

/// Factors A, n×n, in host memory in place, as factor_lu() does. `math` is the mode of the products that subtract a
/// whole segment from what is right of it and below it; complex numbers have Math::Strict alone. `options` have none.
template <class T>
Index factor_lu_in_mode(Math math, Index n, Block<T> a, std::span<Index> pivots, const SolveOptions& options);

} // namespace tessera::linear_algebra
