#include "bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::compare {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The rounding that a math mode applies to the operands before it multiplies them.
struct InputRounding {
  double relative = 0; ///< change of a product, relative to |a||b|
  double absolute = 0; ///< change of an operand that does not shrink with it
  double scaled = 0;   ///< change of an operand, relative to the largest element of its row of op(A) or column of op(B)
  double terms = 1;    ///< products added for one product of the operands
  double growth = 1;   ///< of Σ|products| over |a||b|
  double largest = infinity;
  double flush = 0; ///< products and sums below this may become zero
};

/// Returns the power of two of subnormal numbers of a 16-bit type, as matrix units align them.
double least_power(DType type) { return std::ldexp(1.0, 1 - element_type(type).largest_exponent); }

/// Returns (1 + r)² − 1.
constexpr double both(double r) { return 2 * r + r * r; }

InputRounding input_rounding(Math math) {
  constexpr double flushed = 0x1p-126;       // a narrow format may flush numbers that are subnormal in f32
  constexpr double half_fp16_step = 0x1p-25; // half of fp16's subnormal step
  switch (math) {
    case Math::Tf32:
      return {both(0x1p-10), flushed, 0, 1, 1 + both(0x1p-10), 0x1.ffcp127};
    case Math::Bf16:
      return {both(0x1p-8), flushed, 0, 1, 1 + both(0x1p-8), 0x1.fep127};
    case Math::Fp16:
      return {both(0x1p-11), half_fp16_step, 0, 1, 1 + both(0x1p-11), 65504};
    // low·low, at most 2⁻²²|a||b|, is left out. The largest element of each 128 k of a row or column is scaled to 2¹⁴
    // or more, or all elements by 2¹²⁶ to multiples of 2⁻²³, whose terms lose nothing to underflow but are aligned like
    // 2⁻¹⁴ (docs/error_bounds.md, 9). A product passes at most 3·128 − 1 additions in its chunk, one for each chunk of
    // its segment and 7 for segments, which is less than 3k.
    case Math::EmulatedFp16x3:
      return {both(0x1p-22) + 0x1p-22, 0x1p-159, half_fp16_step * 0x1p-14, 3, 1 + 0x1p-9, infinity};
    // As for EmulatedFp16x3, but with one term: a product passes at most 128 − 1 additions in its chunk. The sum of a
    // chunk of 128 k loses 48 units of truncation at most, which leaves room for the others (docs/error_bounds.md, 9).
    case Math::ScaledFp16:
      return {both(0x1p-11), 0x1p-160, half_fp16_step * 0x1p-14, 1, 1 + both(0x1p-11), infinity};
    case Math::EmulatedBf16x6: // middle·low twice and low·low are left out
      return {both(0x1p-24) + 2 * 0x1p-24 + 0x1p-32, flushed, 0, 6, 1 + 0x1p-6, 0x1.fep127, flushed};
    case Math::Strict:
    case Math::Compensated:
    case Math::Strassen:
    case Math::Int8Units: // an element whose error might exceed a strict product's bound is strict
      break;
  }
  return {};
}

/// Returns N of docs/error_bounds.md, 7: the error of Strassen's recursion in units of |alpha|·max|A|·max|B|. `closing`
/// counts the roundings by alpha and beta. docs/strassen.md has the derivation.
double strassen_error(const GemmShape& shape, double closing, double v) {
  const int levels = strassen_levels(shape.m, shape.n, shape.k);
  const auto k = static_cast<double>(shape.k);
  double inner = static_cast<double>(shape.k >> levels);
  double error = gamma(inner, v) * inner;
  for (int level = 0; level < levels; ++level) {
    error = 12 * (1 + gamma(5, v)) * error + 12 * gamma(5, v) * inner;
    inner *= 2;
  }
  const double rest = k - inner; // is added by a conventional product
  if (rest > 0) error += gamma(rest + 1, v) * (k + error);
  error += gamma(closing, v) * (k + error);
  return std::max(error, gamma(k + closing, v) * k); // a kernel may compute the product, or a part of C, in another way
}

/// Turns the bound of an f32 result into the bound of that result rounded to a 16-bit type. Rounding adds u times the
/// result, or half a step where the result is subnormal.
void round_to_narrow(DType result, BoundCoefficients& bound) {
  const NarrowRounding rounding = narrow_rounding(result);
  for (double* part :
       {&bound.product, &bound.norms, &bound.old, &bound.result, &bound.input, &bound.scaled, &bound.constant})
    *part *= 1 + rounding.relative;
  bound.result += rounding.relative;
  bound.constant += rounding.absolute;
}

} // namespace

NarrowRounding narrow_rounding(DType type) {
  const ElementType& format = element_type(type);
  const double u = unit_roundoff(type);
  return {u, std::ldexp(1.0, 1 - format.largest_exponent - format.digits),
          std::ldexp(2 - 2 * u, format.largest_exponent)};
}

BoundCoefficients exact_coefficients(double largest) {
  BoundCoefficients bound;
  bound.largest = largest;
  bound.largest_input = infinity;
  bound.exact = true;
  return bound;
}

double unit_roundoff(DType type) { return std::ldexp(1.0, -element_type(type).digits); }

double gamma(double n, double u) { return n * u < 0.5 ? n * u / (1 - n * u) : infinity; }

BoundCoefficients bound_coefficients(const Arithmetic& arithmetic, DType result, const GemmShape& shape, double alpha,
                                     double beta) {
  const Index k = shape.k;
  const bool f64 = arithmetic.type == DType::F64;
  const double u = f64 ? 0x1p-53 : 0x1p-24;
  const double v = arithmetic.accumulator == Accumulator::Truncating ? 2 * u : u;
  const double smallest = f64 ? 0x1p-1074 : 0x1p-149;
  const InputRounding input = is_16_bit(arithmetic.type) ? InputRounding{} : input_rounding(arithmetic.math);
  const double terms = input.terms * static_cast<double>(k);
  const double closing = (std::abs(alpha) == 1 ? 0 : 1) + (beta == 0 ? 0 : 1);

  BoundCoefficients bound;
  double sum = 0; // relative to Σ|products|, with alpha and beta·C
  double old = 0;
  double additions = 1; // products of blocks that an element of C is the sum of, each with its own underflow
  if (arithmetic.math == Math::Strassen) {
    bound.norms = strassen_error(shape, closing, v);
    old = gamma(2, v);
    additions = std::ldexp(1.0, 2 * strassen_levels(shape.m, shape.n, shape.k));
  } else if (arithmetic.accumulator == Accumulator::Wider) {
    sum = old = f64 ? gamma(2 * terms + 4, u) * gamma(2 * terms + 4, u) : gamma(terms + 2, u * u);
    bound.result = v * (1 + sum);
  } else if (arithmetic.math == Math::Compensated) {
    sum = 3 * v + 8 * terms * v * v;
    sum = (1 + sum) * (1 + gamma(closing, v)) - 1;
    old = gamma(2, v);
  } else {
    sum = gamma(terms + closing, v);
    old = arithmetic.summation == Summation::Canonical ? gamma(1, v) : gamma(terms + 2, v);
  }
  bound.product = input.growth * sum + input.relative;
  bound.old = old;
  bound.input = input.absolute * (1 + 0x1p-7) * (1 + sum);
  bound.scaled = input.scaled * (1 + 0x1p-7) * (1 + sum);
  const bool aligns_subnormal = arithmetic.summation == Summation::HopperUnits && is_16_bit(arithmetic.type);
  const double aligned = aligns_subnormal ? 17 * 0x1p-25 * least_power(arithmetic.type) : 0; // docs/error_bounds.md, 9
  bound.input += aligned * (1 + sum);
  bound.constant =
      std::abs(alpha) * additions * terms * (std::max(smallest, input.flush) + 2 * input.absolute * input.absolute) +
      2 * smallest;
  if (aligns_subnormal)
    bound.constant += std::abs(alpha) * (static_cast<double>(k) / 16 + 1) * aligned * least_power(arithmetic.type);

  // The reference is off by `reference`, and S by a factor of at most 1 + 2γ_k.
  const double own = static_cast<double>(k) + 4;
  const double reference = f64 ? gamma(own, 0x1p-53) * gamma(own, 0x1p-53) : gamma(own, 0x1p-53);
  const double evaluation = 1 + 2 * gamma(own + 8, 0x1p-53);
  bound.product = (bound.product + reference) * evaluation;
  bound.norms *= evaluation;
  bound.old = (bound.old + reference) * evaluation;
  bound.input *= evaluation;
  bound.scaled *= evaluation;
  bound.result *= evaluation;
  bound.constant += f64 ? (1 + std::abs(alpha)) * (static_cast<double>(k) + 2) * 0x1p-1074 : 0;
  bound.largest_input = input.largest;
  bound.largest = f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (is_16_bit(result)) round_to_narrow(result, bound);
  return bound;
}

} // namespace tessera::compare
