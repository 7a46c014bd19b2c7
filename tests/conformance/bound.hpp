#pragma once

/// The bound of a row's error: |c − ĉ| ≤ bound for each element, for any order of additions.
///
/// With unit roundoff u and n roundings on the way of each term, the error is at most γ_n = n·u/(1 − n·u) times the sum
/// of the terms' magnitudes. Source: Higham, "Accuracy and Stability of Numerical Algorithms", §3.1 and §3.5.

#include <cmath>
#include <limits>

#include <tessera/backend/kernel.hpp>

namespace tessera::conformance {

/// Returns γ_n, or infinity where n·u ≥ 1 and the theorem says nothing.
inline double gamma(double n, double u) { return n * u < 1 ? n * u / (1 - n * u) : HUGE_VAL; }

inline double unit_roundoff(DType type) { return type == DType::F64 ? 0x1p-53 : 0x1p-24; }

/// Returns the largest relative error of an operand's element as the mode rounds it, to nearest or towards zero.
inline double input_rounding(Math math) {
  switch (math) {
    case Math::Tf32:
    case Math::Fp16:
      return 0x1p-10;
    case Math::Bf16:
      return 0x1p-7;
    case Math::EmulatedFp16x3:
    case Math::EmulatedBf16x6:
      return 0x1p-20; // the remainder of an operand after its parts
    case Math::Strict:
    case Math::Compensated:
      break;
  }
  return 0;
}

struct ExactElement {
  double value = 0;     ///< alpha·Σ a·b + beta·c
  double magnitude = 0; ///< |alpha|·Σ|a·b| + |beta·c|
  double error = 0;     ///< the error that `value` itself may have
};

/// Returns the bound of one element. A term is rounded in its product, in k additions, by alpha, and when beta·c is
/// added.
inline double bound(const GemmKernel& row, const GemmCall& call, const ExactElement& exact) {
  const double u = unit_roundoff(call.type);
  const double roundings = static_cast<double>(call.k) + 3;
  double relative = 0;
  switch (row.accumulator) {
    case Accumulator::Native:
      relative = gamma(roundings, u);
      break;
    case Accumulator::Wider:
      relative = gamma(roundings, u * u) * (1 + u) + u;
      break;
    case Accumulator::Truncating:
      relative = gamma(roundings, 2 * u);
      break;
  }
  const double rounded = input_rounding(call.math);
  relative += (2 * rounded + rounded * rounded) * (1 + relative);
  // Each product, and the products with alpha and beta, may be below the smallest normal number, where errors are
  // absolute.
  const double smallest = call.type == DType::F64 ? 0x1p-1074 : 0x1p-149;
  const double underflow = (static_cast<double>(call.k) * std::abs(call.alpha) + 3) * smallest;
  return relative * exact.magnitude + underflow + exact.error;
}

} // namespace tessera::conformance
