/// An estimate of ‖A⁻¹‖₁ from a few systems with A and Aᵀ.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <tessera/detail/floating_point.hpp>
#include <tessera/linear_algebra/condition.hpp>

namespace tessera::detail {
namespace {

/// Σ|x|, in double, in ascending order.
template <class T>
double sum_of_magnitudes(const std::vector<T>& x) {
  double sum = 0;
  for (const T element : x) sum += std::abs(static_cast<double>(element));
  return sum;
}

template <class T>
std::size_t largest(const std::vector<T>& x) {
  std::size_t at = 0;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (std::abs(x[i]) > std::abs(x[at])) at = i;
  return at;
}

/// Replaces x by its signs. Returns whether they are the ones in `signs`, which take them.
template <class T>
bool take_signs(std::vector<T>& x, std::vector<T>& signs) {
  for (T& element : x) element = std::signbit(element) ? T(-1) : T(1);
  const bool same = x == signs;
  signs = x;
  return same;
}

/// NaN stays.
double largest_of(const std::vector<double>& sums) {
  double most = 0;
  for (const double sum : sums) most = sum <= most ? most : sum;
  return most;
}

} // namespace

template <class T>
double norm_1(const Matrix<T>& a) {
  std::vector<double> sums(static_cast<std::size_t>(a.cols()));
  for (Index i = 0; i < a.rows(); ++i) {
    const std::span<const T> row = a.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) sums[j] += std::abs(static_cast<double>(row[j]));
  }
  return largest_of(sums);
}

template <class T>
double norm_1_of_lower(const Matrix<T>& a) {
  std::vector<double> sums(static_cast<std::size_t>(a.cols()));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::span<const T> row = a.row(static_cast<Index>(i));
    for (std::size_t j = 0; j <= i; ++j) {
      const double magnitude = std::abs(static_cast<double>(row[j]));
      sums[j] += magnitude;
      if (j < i) sums[i] += magnitude;
    }
  }
  return largest_of(sums);
}

template <class T>
double norm_of_inverse(Index n, const InPlace<T>& solve, const InPlace<T>& solve_transposed) {
  const ContractArithmetic contract;
  const auto size = static_cast<std::size_t>(n);
  std::vector<T> x(size, static_cast<T>(1.0 / static_cast<double>(n))), signs;
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
    x[i] = static_cast<T>(i % 2 == 0 ? magnitude : -magnitude);
  }
  solve(x);
  const double other = 2 * sum_of_magnitudes(x) / (3 * static_cast<double>(n));
  return std::isnan(estimate) || std::isnan(other) ? estimate + other : std::max(estimate, other);
}

template double norm_1(const Matrix<float>&);
template double norm_1(const Matrix<double>&);
template double norm_1_of_lower(const Matrix<float>&);
template double norm_1_of_lower(const Matrix<double>&);
template double norm_of_inverse(Index, const InPlace<float>&, const InPlace<float>&);
template double norm_of_inverse(Index, const InPlace<double>&, const InPlace<double>&);

} // namespace tessera::detail
