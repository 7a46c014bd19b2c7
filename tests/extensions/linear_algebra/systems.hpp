#pragma once

/// Matrices for the tests of linear algebra.

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/linear_algebra/solve.hpp>
#include <tessera/linear_algebra/syrk.hpp>
#include <tessera/tessera.hpp>

#include "support/conjugate.hpp"
#include "support/tested_backend.hpp"

namespace tessera::test {

using Elements = std::tuple<float, double>;
/// What factors and systems have.
using Systems = std::tuple<float, double, std::complex<float>, std::complex<double>>;
template <class T>
inline constexpr bool is_complex = !std::is_floating_point_v<T>;
/// The type of a number's parts.
template <class T>
using Part = decltype(std::real(T()));

/// The options of the backend under test, and of the formulas.
inline SolveOptions tested(int threads = 0) { return {.backend = tested_backend(), .threads = threads}; }
inline const SolveOptions formulas{.backend = Backend::Reference};

/// Returns a symmetric positive definite matrix, or a Hermitian one, whose diagonal may have imaginary parts.
template <class T>
Matrix<T> positive(Index n, Seed seed) {
  const auto a = Matrix<T>::random(n, n, seed);
  Matrix<T> product = gemm(a, conjugate_transpose(a));
  for (Index i = 0; i < n; ++i) {
    product(i, i) += T(1);
    if constexpr (is_complex<T>)
      for (Index j = 0; j < i; ++j) product(j, i) = std::conj(std::as_const(product)(i, j));
  }
  return product;
}

/// Returns a matrix whose triangular systems have solutions of moderate size.
template <class T>
Matrix<T> dominant(Index n, Seed seed) {
  auto a = Matrix<T>::random(n, n, seed);
  for (Index i = 0; i < n; ++i) a(i, i) += static_cast<Part<T>>(i % 2 == 0 ? n : -n);
  return a;
}

/// Are the bits equal? NaN equals NaN.
template <class T>
bool same_bits(T x, T y) {
  if constexpr (is_complex<T>) {
    return same_bits(x.real(), y.real()) && same_bits(x.imag(), y.imag());
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y) || (std::isnan(x) && std::isnan(y));
  }
}

/// Returns how many elements have other bits. NaN equals NaN.
template <class T>
Index differing(const Matrix<T>& x, const Matrix<T>& y) {
  if (x.rows() != y.rows() || x.cols() != y.cols()) return -1;
  Index count = 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) count += !same_bits(x(i, j), y(i, j));
  return count;
}

} // namespace tessera::test
