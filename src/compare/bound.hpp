#pragma once

/// The error bound of compare.hpp, as coefficients that are the same for all elements of a product.

#include <tessera/compare.hpp>

namespace tessera::compare {

/// bound = product·|alpha|·S + old·|beta||C| + result·|c| + input·|alpha|·(Σ|a_ip| + Σ|b_pj|)
///         + scaled·|alpha|·(max|a_ip|·Σ|b_pj| + max|b_pj|·Σ|a_ip|) + constant.
struct BoundCoefficients {
  double product = 0;
  double old = 0;
  double result = 0;
  double input = 0;
  double scaled = 0;
  double constant = 0;
  double largest_input = 0; ///< from here on, inputs may become Inf when they are rounded
  double largest = 0;       ///< of the result's type
};

/// `result`: C's type; compare.hpp says where it matters.
BoundCoefficients bound_coefficients(const Arithmetic& arithmetic, DType result, Index k, double alpha, double beta);

/// u: 2⁻²⁴, 2⁻⁵³, 2⁻¹¹ or 2⁻⁸.
double unit_roundoff(DType type);

/// n·u / (1 − n·u); infinite from n·u = 1/2 on.
double gamma(double n, double u);

} // namespace tessera::compare
