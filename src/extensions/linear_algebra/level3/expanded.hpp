#pragma once

/// Symmetric products of complex matrices as products of real ones, whose operands are rewritten once for all blocks of
/// the triangle. docs/contract.md ("Complex products") has the expansion.

#include "extensions/linear_algebra/symmetric.hpp"

namespace tessera::linear_algebra {

/// Are the factors of the products and of C real, and is there little enough memory to write?
template <class T>
bool can_be_expanded(std::span<const Term<T>> terms, Index n, Index k, T beta) {
  constexpr Index most_bytes = Index{1} << 26;
  const auto is_real = [](T x) { return x.imag() == 0; };
  return is_real(beta) && std::ranges::all_of(terms, [&](const Term<T>& term) { return is_real(term.alpha); }) &&
         k <= most_bytes / (6 * static_cast<Index>(sizeof(T)) * n);
}

/// Does what triangle_product() does.
template <class P>
void expanded_triangle_product(const Products<P>& products, const TriangleOf<std::complex<P>>& to, Index k,
                               std::span<const Term<std::complex<P>>> terms, std::complex<P> beta);

} // namespace tessera::linear_algebra
