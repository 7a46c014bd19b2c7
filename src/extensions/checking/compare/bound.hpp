#pragma once

/// The error bound of docs/error_bounds.md, as coefficients that hold for all elements of a product.

#include <tessera/checking/compare.hpp>

namespace tessera::compare {

/// bound = product·|alpha|·S + old·|beta||C| + result·|c| + input·|alpha|·(Σ|a_ip| + Σ|b_pj|)
///         + scaled·|alpha|·(max|a_ip|·Σ|b_pj| + max|b_pj|·Σ|a_ip|) + norms·|alpha|·max|A|·max|B| + constant.
struct BoundCoefficients {
  double product = 0;
  double norms = 0; ///< the largest elements of the whole operands
  double old = 0;
  double result = 0;
  double input = 0;
  double scaled = 0;
  double constant = 0;
  double largest_input = 0; ///< inputs of this size and more may become Inf when they are rounded
  double largest = 0;       ///< finite number of the type that sums are computed in
  bool exact = false;       ///< sums beyond `largest` wrap around, and say nothing
};

/// Returns the coefficients for products of this shape. `result` is C's type; docs/error_bounds.md says where it
/// matters.
BoundCoefficients bound_coefficients(const Arithmetic& arithmetic, DType result, const GemmShape& shape, double alpha,
                                     double beta);

/// What rounding a number x to a 16-bit type changes: at most relative·|x| + absolute, up to the largest finite number.
struct NarrowRounding {
  double relative = 0;
  double absolute = 0; ///< half a subnormal step
  double largest = 0;
};
NarrowRounding narrow_rounding(DType type);

/// Returns the coefficients of exact sums of whole numbers in a type whose largest number this is.
BoundCoefficients exact_coefficients(double largest);

/// Returns u of the type: 2⁻²⁴ for f32, 2⁻⁵³ for f64, 2⁻¹¹ for f16, 2⁻⁸ for bf16.
double unit_roundoff(DType type);

/// Returns n·u / (1 − n·u), or infinity from n·u = 1/2 on.
double gamma(double n, double u);

} // namespace tessera::compare
