#include "certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

#include <tessera/detail/number_text.hpp>
#include <tessera/linear_algebra/solve.hpp>

#include "extensions/linear_algebra/numbers.hpp"

namespace tessera::linear_algebra {
namespace {

constexpr double unit_roundoff = 0x1p-53;
constexpr double least_subnormal = 0x1p-1074;

/// No less than the modulus, and no more.
double not_below(double x) { return std::abs(x); }
double not_below(std::complex<double> x) { return std::abs(x.real()) + std::abs(x.imag()); }
double not_above(double x) { return std::abs(x); }
double not_above(std::complex<double> x) { return std::max(std::abs(x.real()), std::abs(x.imag())); }

/// The exponent of the least magnitude, and a large number where there is none.
int exponent_of(double least) {
  constexpr int none = 1 << 14;
  return std::isinf(least) ? none : std::ilogb(least);
}

/// Judges elements of the residual.
class Judge {
 public:
  Judge(Index n, bool is_complex) : terms_(static_cast<double>(is_complex ? 2 * n : n)) {
    constexpr double factor = 3, few = 10, of_complex = 2 * std::numbers::sqrt2, more_than_root_of_2 = 1.5;
    const auto order = static_cast<double>(n), segment = static_cast<double>(canonical_segment);
    const double roundings = std::min(terms_, segment) + std::ceil(terms_ / segment);
    error_ = roundings * unit_roundoff * (is_complex ? more_than_root_of_2 : 1);
    limit_ = factor * (order + few) * unit_roundoff * (is_complex ? of_complex : 1);
  }

  /// Is an element certified whose residual, sum of magnitudes and right-hand side have these magnitudes?
  bool passes(double residual, double sum, double right, bool may_underflow) {
    constexpr double small = 0x1p-400, enlarges = 0x1p+500, all_roundings = 1 + 32 * unit_roundoff;
    double underflow = may_underflow ? terms_ * least_subnormal : 0;
    if (sum + right < small) {
      residual *= enlarges;
      sum *= enlarges;
      right *= enlarges;
      underflow = may_underflow ? terms_ * (least_subnormal * enlarges) : 0;
    }
    const double error = residual + error_ * sum + 2 * underflow;
    const double size = (sum - underflow) * (1 - error_) + right;
    const bool is_certified = error * all_roundings <= limit_ * size && std::isfinite(limit_ * size);
    constexpr double unbounded = std::numeric_limits<double>::infinity();
    if (!is_certified) worst_ = std::max(worst_, std::isfinite(error) && size > 0 ? error / size : unbounded);
    return is_certified;
  }

  double worst() const { return worst_; }
  double limit() const { return limit_; }

 private:
  double terms_; ///< of a sum, real ones
  double error_ = 0, limit_ = 0, worst_ = 0;
};

/// Returns the magnitudes of X as what a row of A's parts meets: x itself, or two columns for each one of complex
/// numbers, of which the first meets the real part of A·x and the second the imaginary one.
Matrix<double> magnitudes_of(const Matrix<double>& x) {
  auto sizes = Matrix<double>::uninitialized(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    std::ranges::transform(x.row(i), sizes.row(i).begin(), [](double number) { return std::abs(number); });
  return sizes;
}
Matrix<double> magnitudes_of(const Matrix<std::complex<double>>& x) {
  auto sizes = Matrix<double>::uninitialized(2 * x.rows(), 2 * x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) {
      sizes(2 * i, 2 * j) = sizes(2 * i + 1, 2 * j + 1) = std::abs(x(i, j).real());
      sizes(2 * i + 1, 2 * j) = sizes(2 * i, 2 * j + 1) = std::abs(x(i, j).imag());
    }
  return sizes;
}

/// Returns the exponent of the least magnitude but 0 of each column of X, or of a part there.
std::vector<int> least_exponents(const Matrix<double>& sizes, Index columns) {
  const Index each = columns > 0 ? sizes.cols() / columns : 1;
  std::vector<double> least(static_cast<std::size_t>(columns), std::numeric_limits<double>::infinity());
  for (Index i = 0; i < sizes.rows(); ++i)
    for (Index j = 0; j < columns; ++j)
      if (const double size = sizes(i, j * each); size > 0)
        least[static_cast<std::size_t>(j)] = std::min(least[static_cast<std::size_t>(j)], size);
  std::vector<int> exponents(least.size());
  std::ranges::transform(least, exponents.begin(), exponent_of);
  return exponents;
}

} // namespace

template <class T>
void certify(RefinedSystem<T>& system, const Matrix<T>& x, const Matrix<T>& b) {
  constexpr Index each = Number<T>::parts;
  const Block<T> r = system.r();
  for (Index i = 0; i < b.rows(); ++i) std::ranges::copy(b.row(i), r.at(i, 0));
  system.subtract_product();
  const Matrix<double> sizes = magnitudes_of(x), sums = system.multiply_magnitudes(sizes);
  const std::vector<int> of_columns = least_exponents(sizes, x.cols());
  constexpr int exact_from = -970; // then each product of two numbers is a multiple of the least number
  Judge judge(x.rows(), is_complex<T>);
  bool is_certified = true;
  for (Index i = 0; i < x.rows(); ++i) {
    const int of_row = exponent_of(system.scales().least[static_cast<std::size_t>(i)]);
    const std::span<const T> right = b.row(i);
    const T* const residuals = r.at(i, 0);
    const std::span<const double> sums_of_row = sums.row(i);
    for (std::size_t j = 0; j < right.size(); ++j) {
      double sum = sums_of_row[j * each];
      if constexpr (is_complex<T>) sum = std::max(sum, sums_of_row[j * each + 1]);
      const bool may_underflow = of_row + of_columns[j] < exact_from;
      is_certified = judge.passes(not_below(residuals[j]), sum, not_above(right[j]), may_underflow) && is_certified;
    }
  }
  if (!is_certified)
    throw NotRefined("what they lead to is not certified to solve a system that differs by less than " +
                     detail::general_text(judge.limit(), 3) + " of its elements, but by " +
                     detail::general_text(judge.worst(), 3));
}

template void certify(RefinedSystem<double>&, const Matrix<double>&, const Matrix<double>&);
template void certify(RefinedSystem<std::complex<double>>&, const Matrix<std::complex<double>>&,
                      const Matrix<std::complex<double>>&);

} // namespace tessera::linear_algebra
