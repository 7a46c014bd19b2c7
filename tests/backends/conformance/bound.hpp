#pragma once

/// The bound of a kernel's error: |c − ĉ| ≤ bound for each element, for any order of additions.
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
    case Math::ScaledFp16:
      return 0x1p-10;
    case Math::Bf16:
      return 0x1p-7;
    case Math::EmulatedFp16x3:
    case Math::EmulatedBf16x6:
      return 0x1p-20; // the remainder of an operand after its parts
    case Math::Strict:
    case Math::Compensated:
    case Math::Strassen:
    case Math::Int8Units:
      break;
  }
  return 0;
}

struct ExactElement {
  double value = 0;     ///< alpha·Σ a·b + beta·c
  double magnitude = 0; ///< |alpha|·Σ|a·b| + |beta·c|
  double largest = 0;   ///< |alpha|·max|A|·max|B|, of the finite elements of the whole operands
  double error = 0;     ///< the error that `value` itself may have
};

/// Returns the error of Strassen's recursion in units of |alpha|·max|A|·max|B|, in the closed form of docs/strassen.md:
/// γ_X(u) with X = 12^L·κ² + 6(12^L − 2^L)·κ for L levels down to k = κ. It says nothing where X·u ≥ 1, which no case
/// here reaches. The last terms are what does not divide by 2^L, alpha and beta.
inline double strassen_error(const GemmCall& call, double u) {
  const int levels = strassen_levels(call.m, call.n, call.k);
  const double blocks = std::pow(2, levels), sums = std::pow(12, levels);
  const double least = std::floor(static_cast<double>(call.k) / blocks),
               rest = static_cast<double>(call.k) - least * blocks;
  const double core = gamma(sums * least * least + 6 * (sums - blocks) * least, u);
  return core + gamma(rest + 4, u) * (static_cast<double>(call.k) + core);
}

/// Returns the bound of one element. A term is rounded in its product, in k additions, by alpha, and when beta·c is
/// added.
inline double bound(const GemmKernel& kernel, const GemmCall& call, const ExactElement& exact) {
  const double u = unit_roundoff(call.type);
  const double roundings = static_cast<double>(call.k) + 3;
  double relative = 0;
  switch (kernel.accumulator) {
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
  double underflow = (static_cast<double>(call.k) * std::abs(call.alpha) + 3) * smallest;
  if (kernel.math == Math::Strassen) {
    const int levels = strassen_levels(call.m, call.n, call.k);
    underflow *= std::pow(4, levels);
    if (levels > 0) // else the product is a conventional one
      return strassen_error(call, u) * exact.largest + gamma(2, u) * exact.magnitude + underflow + exact.error;
  }
  return relative * exact.magnitude + underflow + exact.error;
}

} // namespace tessera::conformance
