#pragma once

/// The size of a product.

#include <compare>

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The three sizes of a product, or of a block of it: op(A) is m×k, op(B) is k×n, C is m×n.
struct GemmShape {
  Index m = 0; ///< rows of op(A) and C
  Index n = 0; ///< columns of op(B) and C
  Index k = 0; ///< columns of op(A) and rows of op(B)

  /// Compares m, then n, then k.
  auto operator<=>(const GemmShape&) const = default;
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
