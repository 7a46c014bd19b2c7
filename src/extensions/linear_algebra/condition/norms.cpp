/// Norms of matrices as sums in double, which are taken again of smaller numbers where they overflow. All of it is
/// outside the headers, because a caller's code computes in the caller's floating-point state.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <tessera/detail/floating_point.hpp>
#include <tessera/linear_algebra/condition.hpp>

#include "extensions/linear_algebra/numbers.hpp"
#include "largest_sum.hpp"
#include "sizes.hpp"

namespace tessera::detail {
namespace {

using linear_algebra::magnitude_of;

/// Returns the largest of n sums, to which add(sums, scale) adds the magnitudes of scaled numbers.
template <class Add>
[[gnu::noinline]] ScaledNumber largest_sum(Index n, const Add& add) {
  std::vector<double> sums;
  return linear_algebra::largest_sum([&](double scale) {
    sums.assign(static_cast<std::size_t>(n), 0.0);
    add(sums, scale);
    return std::span<const double>(sums);
  });
}

template <class T>
double scaled_magnitude(T x, double scale) {
  // A float's magnitude is a number in double, whose scale is 1.
  return scale == 1 ? magnitude_of(x) : magnitude_of(static_cast<linear_algebra::Part<T>>(scale) * x);
}

} // namespace

template <class T>
ScaledNumber norm_1(const Matrix<T>& a) {
  const ContractArithmetic contract;
  return largest_sum(a.cols(), [&](std::vector<double>& sums, double scale) {
    for (Index i = 0; i < a.rows(); ++i) {
      const std::span<const T> row = a.row(i);
      for (std::size_t j = 0; j < row.size(); ++j) sums[j] += scaled_magnitude(row[j], scale);
    }
  });
}

template <class T>
ScaledNumber norm_1_of_lower(const Matrix<T>& a) {
  const ContractArithmetic contract;
  return largest_sum(a.cols(), [&](std::vector<double>& sums, double scale) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::span<const T> row = a.row(static_cast<Index>(i));
      for (std::size_t j = 0; j <= i; ++j) {
        const double magnitude = i == j ? scaled_magnitude(std::real(row[j]), scale) : scaled_magnitude(row[j], scale);
        sums[j] += magnitude;
        if (j < i) sums[i] += magnitude;
      }
    }
  });
}

template <class T>
ScaledNumber norm_of_triangle(Triangle triangle, Diagonal diagonal, Index n, const T* a, Index lda, bool of_rows) {
  const ContractArithmetic contract;
  return largest_sum(n, [&](std::vector<double>& sums, double scale) {
    for (Index i = 0; i < n; ++i) {
      const Index begin = triangle == Triangle::Lower ? 0 : i, end = triangle == Triangle::Lower ? i + 1 : n;
      for (Index j = begin; j < end; ++j) {
        const T number = i == j && diagonal == Diagonal::Unit ? T(1) : a[i * lda + j];
        sums[static_cast<std::size_t>(of_rows ? i : j)] += scaled_magnitude(number, scale);
      }
    }
  });
}

#define TESSERA_INSTANTIATE(T)                             \
  template ScaledNumber norm_1(const Matrix<T>&);          \
  template ScaledNumber norm_1_of_lower(const Matrix<T>&); \
  template ScaledNumber norm_of_triangle(Triangle, Diagonal, Index, const T*, Index, bool);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail
