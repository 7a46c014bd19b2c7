#pragma once

/// The end of a row of a product, in every mode that has a contract: alpha, beta, the epilogue, and one rounding to the
/// type of C.

#include <cmath>

#include "reference/elementwise/epilogue.hpp"

namespace tessera::host {

/// Makes `cols` elements of row i of C, from column `first_col` on, of their sums, which are overwritten: r =
/// alpha·sum, r = fma(beta, c, r) unless beta is zero, and the epilogue of r, rounded to C's type. `c` is the first of
/// them. The function is always inlined, so that a caller that is compiled for FMA has these loops compiled for it.
template <class S, class R>
[[gnu::always_inline]] inline void finish_row(S alpha, S beta, const Epilogue& epilogue, Index i, Index first_col,
                                              Index cols, S* sums, R* c) {
  for (Index j = 0; j < cols; ++j) sums[j] = alpha * sums[j];
  if (beta != S{0})
    for (Index j = 0; j < cols; ++j) sums[j] = std::fma(beta, static_cast<S>(c[j]), sums[j]);
  apply_epilogue_to_row(epilogue, i, first_col, cols, sums, c);
}

} // namespace tessera::host
