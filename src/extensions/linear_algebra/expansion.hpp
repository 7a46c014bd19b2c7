#pragma once

/// Operands of complex products as operands of real ones. docs/contract.md ("Complex products") has the expansion. The
/// copies serve several products.

#include "products.hpp"

namespace tessera::linear_algebra {

/// Returns A, n×k, as n×2k real numbers: as it is stored, or a copy at `to`.
template <class P>
Factor<P> as_pairs(const Factor<std::complex<P>>& a, Index n, Index k, P* to);

/// Returns B, k×n, with [[re, im], [−im, re]] for each number, at `to`: 2k×2n, or the transpose of that where B is a
/// transpose.
template <class P>
Factor<P> as_squares(const Factor<std::complex<P>>& b, Index k, Index n, P* to);

} // namespace tessera::linear_algebra
