#pragma once

/// Symmetric products of complex matrices as products of real ones, whose operands are rewritten once for all blocks of
/// the triangle. docs/contract.md ("Complex products") has the expansion.

#include "extensions/linear_algebra/expansion.hpp"
#include "extensions/linear_algebra/symmetric.hpp"

namespace tessera::linear_algebra {

/// Is C's factor real, and is there little enough memory to write?
template <class T>
bool can_be_expanded(Index n, Index k, T beta) {
  constexpr Index most_bytes = Index{1} << 26;
  return beta.imag() == 0 && k <= most_bytes / (6 * static_cast<Index>(sizeof(T)) * n);
}

/// Does what triangle_product() does.
template <class P>
void expanded_triangle_product(const Products<P>& products, const TriangleOf<std::complex<P>>& to, Index k,
                               std::span<const Term<std::complex<P>>> terms, std::complex<P> beta);

} // namespace tessera::linear_algebra
