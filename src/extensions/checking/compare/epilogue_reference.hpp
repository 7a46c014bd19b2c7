#pragma once

/// The epilogue of a product in high precision, with the bounds of its elements.

#include "comparison.hpp"
#include "row_check.hpp"

namespace tessera::compare {

/// An element in high precision on its way through an epilogue.
struct ExactElement {
  double high = 0, low = 0;
  double bound = 0;     ///< of the computed element's error
  double added = 0;     ///< |bias| + |residual|
  bool special = false; ///< NaN or Inf was added
};

/// Applies the epilogue of `problem` to element (i, j). u is the unit roundoff of the type that is computed in. The
/// bound grows by one rounding for each addition, and for GELU by its slope, which is below 1.13, and by 8u|x|: twice
/// what backend/activation.hpp promises. ReLU does not increase errors.
void apply_epilogue(const RowProblem& problem, Index i, Index j, double u, ExactElement& x);

/// Applies the epilogue of `problem` to all elements of `product`, whose bounds before it follow from `bound` (without
/// a rounding to 16 bits). Their bounds after it, and after the rounding to the result's type, become product.limit.
template <class T>
void apply_epilogue(const RowProblem& problem, const BoundCoefficients& bound, ReferenceProduct<T>& product,
                    int threads);

extern template void apply_epilogue(const RowProblem&, const BoundCoefficients&, ReferenceProduct<float>&, int);
extern template void apply_epilogue(const RowProblem&, const BoundCoefficients&, ReferenceProduct<double>&, int);

} // namespace tessera::compare
