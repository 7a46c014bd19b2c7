#pragma once

/// Matrices for the tests of linear algebra.

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/linear_algebra/solve.hpp>
#include <tessera/linear_algebra/syrk.hpp>
#include <tessera/tessera.hpp>

#include "support/tested_backend.hpp"

namespace tessera::test {

using Elements = std::tuple<float, double>;

/// The options of the backend under test, and of the formulas.
inline SolveOptions tested(int threads = 0) { return {.backend = tested_backend(), .threads = threads}; }
inline const SolveOptions formulas{.backend = Backend::Reference};

/// Returns a symmetric positive definite matrix.
template <class T>
Matrix<T> positive(Index n, Seed seed) {
  const auto a = Matrix<T>::random(n, n, seed);
  Matrix<T> product = gemm(a, a.transposed());
  for (Index i = 0; i < n; ++i) product(i, i) += T(1);
  return product;
}

/// Returns a matrix whose triangular systems have solutions of moderate size.
template <class T>
Matrix<T> dominant(Index n, Seed seed) {
  auto a = Matrix<T>::random(n, n, seed);
  for (Index i = 0; i < n; ++i) a(i, i) += static_cast<T>(i % 2 == 0 ? n : -n);
  return a;
}

/// Returns how many elements have other bits. NaN equals NaN.
template <class T>
Index differing(const Matrix<T>& x, const Matrix<T>& y) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if (x.rows() != y.rows() || x.cols() != y.cols()) return -1;
  Index count = 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      count +=
          std::bit_cast<Bits>(x(i, j)) != std::bit_cast<Bits>(y(i, j)) && !(std::isnan(x(i, j)) && std::isnan(y(i, j)));
  return count;
}

} // namespace tessera::test
