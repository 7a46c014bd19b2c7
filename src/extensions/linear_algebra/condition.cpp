/// An estimate of ‖A⁻¹‖₁ from a few systems with A and Aᴴ, and determinants by factors. All of it is outside the
/// headers, because a caller's code computes in the caller's floating-point state.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <tessera/detail/floating_point.hpp>
#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/condition.hpp>
#include <tessera/linear_algebra/lu.hpp>
#include <tessera/user_kernel/math.hpp>

#include "largest.hpp"
#include "numbers.hpp"

namespace tessera::detail {
namespace {

using linear_algebra::is_complex;

/// A power of two by which a number is multiplied before its parts are squared.
double scale_of(double re, double im) {
  const double larger = std::max(std::abs(re), std::abs(im));
  if (larger > 0x1p480) return 0x1p-600;
  return larger < 0x1p-480 ? 0x1p600 : 1;
}
double root_of_squares(double re, double im) { return std::sqrt(std::fma(re, re, im * im)); }

double magnitude_of(double x) { return std::abs(x); }
double magnitude_of(std::complex<double> x) {
  const double scale = scale_of(x.real(), x.imag());
  return root_of_squares(scale * x.real(), scale * x.imag()) / scale;
}
double magnitude_of(float x) { return std::abs(static_cast<double>(x)); }
double magnitude_of(std::complex<float> x) { // whose squares are numbers in double
  return root_of_squares(static_cast<double>(x.real()), static_cast<double>(x.imag()));
}

/// A complex number as its direction and the logarithm of its magnitude.
struct Polar {
  std::complex<double> direction; ///< x / |x|; 0 for 0
  double logarithm;               ///< −Inf for 0
};
/// Returns both, which neither overflow nor underflow (docs/contract.md, "Linear algebra").
Polar polar_of(std::complex<double> x) {
  const double scale = scale_of(x.real(), x.imag());
  const double re = scale * x.real(), im = scale * x.imag(), size = root_of_squares(re, im);
  const double logarithm = tessera::log(size);
  if (size == 0) return {0, logarithm};
  return {{re / size, im / size}, scale == 1 ? logarithm : logarithm - tessera::log(scale)};
}

/// Σ|x|, in double, in ascending order.
template <class T>
double sum_of_magnitudes(const std::vector<T>& x) {
  double sum = 0;
  for (const T element : x) sum += magnitude_of(element);
  return sum;
}

template <class T>
std::size_t largest(const std::vector<T>& x) {
  std::size_t at = 0;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (magnitude_of(x[i]) > magnitude_of(x[at])) at = i;
  return at;
}

/// Replaces x by its signs, or by the directions of complex numbers. Returns whether they are the ones in `signs`,
/// which take them; directions are not compared.
template <class T>
bool take_signs(std::vector<T>& x, [[maybe_unused]] std::vector<T>& signs) {
  if constexpr (is_complex<T>) {
    for (T& element : x) {
      const std::complex<double> direction = polar_of(element).direction;
      element = direction == std::complex<double>(0) ? T(1) : static_cast<T>(direction);
    }
    return false;
  } else {
    for (T& element : x) element = std::signbit(element) ? T(-1) : T(1);
    const bool same = x == signs;
    signs = x;
    return same;
  }
}

template <class T>
double norm_of_inverse(Index n, const InPlace<T>& solve, const InPlace<T>& solve_transposed) {
  using Part = linear_algebra::Part<T>;
  const auto size = static_cast<std::size_t>(n);
  std::vector<T> x(size, static_cast<Part>(1.0 / static_cast<double>(n))), signs;
  solve(x);
  double estimate = sum_of_magnitudes(x);
  if (n == 1) return estimate;
  take_signs(x, signs);
  solve_transposed(x);
  constexpr int most_columns = 4;
  for (int column = 0; column < most_columns; ++column) {
    const std::size_t at = largest(x);
    x.assign(size, T(0));
    x[at] = 1;
    solve(x);
    const double now = sum_of_magnitudes(x);
    if (!(now > estimate)) break; // NaN ends it, too
    estimate = now;
    if (take_signs(x, signs)) break;
    solve_transposed(x);
    if (largest(x) == at) break;
  }
  // Where the columns that were looked at cancel, this vector seldom does.
  for (std::size_t i = 0; i < size; ++i) {
    const double magnitude = 1 + static_cast<double>(i) / static_cast<double>(n - 1);
    x[i] = static_cast<Part>(i % 2 == 0 ? magnitude : -magnitude);
  }
  solve(x);
  const double other = 2 * sum_of_magnitudes(x) / (3 * static_cast<double>(n));
  return std::isnan(estimate) || std::isnan(other) ? estimate + other : std::max(estimate, other);
}

int sign_of_swap(std::span<const Index> pivots, Index j) { return pivots[static_cast<std::size_t>(j)] == j ? 1 : -1; }

/// Element j of U's diagonal in double, with the sign of its exchange.
template <class T>
typename Determinant<T>::Number diagonal(const Matrix<T>& lu, std::span<const Index> pivots, Index j) {
  return static_cast<typename Determinant<T>::Number>(lu(j, j)) * static_cast<double>(sign_of_swap(pivots, j));
}

// These functions are not inlined into the ones that set the state, because the compiler would move what they compute
// last out of it.

template <class T>
[[gnu::noinline]] double condition(double norm, Index n, const InPlace<T>& solve, const InPlace<T>& solve_transposed) {
  return norm * norm_of_inverse<T>(n, solve, solve_transposed);
}

template <class T>
[[gnu::noinline]] typename Determinant<T>::Number determinant(const Matrix<T>& lu, std::span<const Index> pivots) {
  typename Determinant<T>::Number product = 1;
  for (Index j = 0; j < lu.rows(); ++j)
    if constexpr (is_complex<T>)
      product = linear_algebra::scaled(product, diagonal(lu, pivots, j));
    else
      product *= diagonal(lu, pivots, j);
  return product;
}

template <class T>
[[gnu::noinline]] typename Determinant<T>::Logarithm log_determinant(const Matrix<T>& lu,
                                                                     std::span<const Index> pivots) {
  typename Determinant<T>::Logarithm result;
  for (Index j = 0; j < lu.rows(); ++j) {
    if constexpr (is_complex<T>) {
      const Polar u = polar_of(diagonal(lu, pivots, j));
      result.sign = linear_algebra::scaled(result.sign, u.direction);
      result.logarithm += u.logarithm;
    } else {
      const auto u = static_cast<double>(lu(j, j));
      result.sign *= sign_of_swap(pivots, j) * (u < 0 ? -1 : u == 0 ? 0 : 1);
      result.logarithm += tessera::log(u < 0 ? -u : u);
    }
  }
  return result;
}

template <class T>
[[gnu::noinline]] double sum_of_logarithms(const Matrix<T>& l) {
  double sum = 0;
  for (Index i = 0; i < l.rows(); ++i) sum += tessera::log(static_cast<double>(std::real(l(i, i))));
  return sum;
}

} // namespace

template <class T>
double norm_1(const Matrix<T>& a) {
  const ContractArithmetic contract;
  std::vector<double> sums(static_cast<std::size_t>(a.cols()));
  for (Index i = 0; i < a.rows(); ++i) {
    const std::span<const T> row = a.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) sums[j] += magnitude_of(row[j]);
  }
  return linear_algebra::largest_of(sums);
}

template <class T>
double norm_1_of_lower(const Matrix<T>& a) {
  const ContractArithmetic contract;
  std::vector<double> sums(static_cast<std::size_t>(a.cols()));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::span<const T> row = a.row(static_cast<Index>(i));
    for (std::size_t j = 0; j <= i; ++j) {
      const double magnitude = i == j ? std::abs(static_cast<double>(std::real(row[j]))) : magnitude_of(row[j]);
      sums[j] += magnitude;
      if (j < i) sums[i] += magnitude;
    }
  }
  return linear_algebra::largest_of(sums);
}

template <class T>
double condition_of(double norm, Index n, const InPlace<T>& solve, const InPlace<T>& solve_transposed) {
  const ContractArithmetic contract;
  return condition<T>(norm, n, solve, solve_transposed);
}

template <class T>
typename Determinant<T>::Number determinant_of(const Matrix<T>& lu, std::span<const Index> pivots) {
  const ContractArithmetic contract;
  return determinant(lu, pivots);
}

template <class T>
typename Determinant<T>::Logarithm log_determinant_of(const Matrix<T>& lu, std::span<const Index> pivots) {
  const ContractArithmetic contract;
  return log_determinant(lu, pivots);
}

template <class T>
double log_determinant_of_square(const Matrix<T>& l) {
  const ContractArithmetic contract;
  return 2 * sum_of_logarithms(l); // exact
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template double norm_1(const Matrix<T>&);                                                                 \
  template double norm_1_of_lower(const Matrix<T>&);                                                        \
  template double condition_of(double, Index, const InPlace<T>&, const InPlace<T>&);                        \
  template typename Determinant<T>::Number determinant_of(const Matrix<T>&, std::span<const Index>);        \
  template typename Determinant<T>::Logarithm log_determinant_of(const Matrix<T>&, std::span<const Index>); \
  template double log_determinant_of_square(const Matrix<T>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail
