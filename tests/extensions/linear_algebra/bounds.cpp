/// Tests the bounds of docs/contract.md for factors and solutions, and determinants and inverses that are known.

#include <algorithm>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

/// A real type in which sums of products of T's parts are exact, or far more precise than the bounds.
template <class T>
using Precise = std::conditional_t<sizeof(Part<T>) == 4, double, long double>;
template <class T>
auto precise(T x) {
  if constexpr (is_complex<T>)
    return std::complex<Precise<T>>(x);
  else
    return static_cast<Precise<T>>(x);
}

/// γ of so many roundings, and a little for the sums of this test; √2·γ for complex numbers.
template <class T>
Precise<T> gamma_of(Index roundings) {
  const Precise<T> nu = static_cast<Precise<T>>(roundings) * std::numeric_limits<Part<T>>::epsilon() / 2;
  return Precise<T>(is_complex<T> ? 1.01 * std::sqrt(2.0) : 1.01) * nu / (1 - nu);
}

/// The number of roundings in docs/linear_algebra.md: a chain, and a subtraction for each segment; of complex numbers a
/// quotient, too.
template <class T>
Index roundings(Index terms) {
  if (is_complex<T>) return std::min<Index>(2 * terms, 1024) + (terms + 511) / 512 + 8;
  return std::min<Index>(terms, 1024) + (terms + 1023) / 1024;
}

/// Returns the largest of |A − X·Y| / (γ·|X||Y|), for X m×k and Y k×n.
template <class T, class X, class Y>
double over_bound(const Matrix<T>& a, Index k, const X& x, const Y& y, Index count) {
  double largest = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j) {
      auto rest = precise<T>(a(i, j));
      Precise<T> size = 0;
      for (Index p = 0; p < k; ++p) {
        const auto product = precise<T>(x(i, p)) * precise<T>(y(p, j));
        rest -= product;
        size += std::abs(product);
      }
      if (rest != decltype(rest)(0))
        largest = std::max(largest, static_cast<double>(std::abs(rest) / (gamma_of<T>(count) * size)));
    }
  return largest;
}

template <class T>
Matrix<T> permuted(const Matrix<T>& a, std::span<const Index> pivots) {
  Matrix<T> result(a.view());
  for (std::size_t j = 0; j < pivots.size(); ++j)
    if (pivots[j] != static_cast<Index>(j))
      std::ranges::swap_ranges(result.row(static_cast<Index>(j)), result.row(pivots[j]));
  return result;
}

std::vector<Index> orders() {
  return conformance::options().quick ? std::vector<Index>{1, 70} : std::vector<Index>{1, 10, 100, 200};
}

} // namespace

BOOST_AUTO_TEST_SUITE(bounds)

BOOST_AUTO_TEST_CASE_TEMPLATE(of_factors, T, Systems) {
  for (const Index n : orders()) BOOST_TEST_CONTEXT(n) {
      const Matrix<T> a = Matrix<T>::random(n, n, Seed{1});
      const Lu lu(a, tested());
      const Matrix<T>& f = lu.packed();
      const auto l = [&](Index i, Index p) { return p < i ? f(i, p) : p == i ? T(1) : T(0); };
      const auto u = [&](Index p, Index j) { return p <= j ? f(p, j) : T(0); };
      BOOST_TEST(over_bound(permuted(a, lu.pivots()), n, l, u, roundings<T>(n)) <= 1);
      Matrix<T> symmetric = positive<T>(n, Seed{2});
      const Cholesky cholesky(symmetric, Triangle::Lower, tested());
      const auto lower = [&](Index i, Index p) { return cholesky.l()(i, p); };
      const Matrix<T> turned = conjugate_transpose(cholesky.l());
      const auto upper = [&](Index p, Index j) { return turned(p, j); };
      if constexpr (is_complex<T>)
        for (Index i = 0; i < n; ++i) symmetric(i, i) = symmetric(i, i).real(); // as the factorisation takes it
      BOOST_TEST(over_bound(symmetric, n, lower, upper, roundings<T>(n) + 1) <= 1);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_solutions, T, Systems) {
  for (const Index n : orders()) BOOST_TEST_CONTEXT(n) {
      const Matrix<T> t = dominant<T>(n, Seed{3}), b = Matrix<T>::random(n, 5, Seed{4});
      const Matrix<T> x = triangular_solve(Triangle::Lower, t, b, Side::Left, Diagonal::Stored, tested());
      const auto lower = [&](Index i, Index p) { return p <= i ? t(i, p) : T(0); };
      const auto solution = [&](Index p, Index j) { return x(p, j); };
      BOOST_TEST(over_bound(b, n, lower, solution, roundings<T>(n)) <= 1);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_small_systems, T, Elements) {
  const Matrix<T> a{{T(0), T(2), T(1)}, {T(1), T(1), T(0)}, {T(4), T(0), T(2)}};
  const Lu lu(a, tested());
  BOOST_TEST(lu.determinant() == -8);
  BOOST_TEST(lu.log_determinant().sign == -1);
  BOOST_TEST(std::abs(lu.log_determinant().logarithm - std::log(8)) < 1e-14);
  const Matrix<T> x = lu.solve(Matrix<T>{{T(7)}, {T(3)}, {T(10)}});
  for (Index i = 0; i < 3; ++i) BOOST_TEST(std::abs(x(i, 0) - T(i + 1)) < 4 * std::numeric_limits<T>::epsilon());
  const Matrix<T> unit = gemm(a, inverse(a, tested()));
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) BOOST_TEST(std::abs(unit(i, j) - T(i == j)) < 8 * std::numeric_limits<T>::epsilon());
  const Cholesky cholesky(Matrix<T>{{T(4), T(2)}, {T(2), T(5)}}, Triangle::Lower, tested());
  BOOST_TEST(cholesky.l() == (Matrix<T>{{T(2), T(0)}, {T(1), T(2)}}));
  BOOST_TEST(std::abs(cholesky.log_determinant() - std::log(16)) < 1e-14);
  BOOST_TEST(cholesky.inverse().rows() == 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_small_complex_systems, P, Elements) {
  using T = std::complex<P>;
  const T i(0, 1);
  // The pivot of the first column is 3 + 3·i, though 5's magnitude is larger.
  const Matrix<T> a{{T(5), i, T(0)}, {T(3, 3), T(1), T(2)}, {T(0), T(1), T(0, 2)}};
  const Lu lu(a, tested());
  BOOST_TEST(lu.pivots()[0] == 1);
  const double tolerance = 16 * std::numeric_limits<P>::epsilon();
  const std::complex<double> exact(-4, 16); // 5·(2·i − 2) − i·(3 + 3·i)·2·i
  BOOST_TEST(std::abs(lu.determinant() - exact) <= tolerance * std::abs(exact));
  const ComplexLogarithm logarithm = lu.log_determinant();
  BOOST_TEST(std::abs(logarithm.sign - exact / std::abs(exact)) <= tolerance);
  BOOST_TEST(std::abs(logarithm.logarithm - std::log(std::abs(exact))) <= tolerance);
  const Matrix<T> x{{T(1, 2)}, {T(-1)}, {T(0, 1)}}, solution = lu.solve(gemm(a, x));
  for (Index row = 0; row < 3; ++row) BOOST_TEST(std::abs(solution(row, 0) - x(row, 0)) <= P(tolerance));
  const Matrix<T> turned = lu.solve_conjugate_transposed(gemm(conjugate_transpose(a), x)),
                  transposed = lu.solve_transposed(gemm(a.transposed(), x));
  for (Index row = 0; row < 3; ++row) {
    BOOST_TEST(std::abs(turned(row, 0) - x(row, 0)) <= P(tolerance));
    BOOST_TEST(std::abs(transposed(row, 0) - x(row, 0)) <= P(tolerance));
  }
  const Matrix<T> unit = gemm(a, inverse(a, tested()));
  for (Index row = 0; row < 3; ++row)
    for (Index col = 0; col < 3; ++col) BOOST_TEST(std::abs(unit(row, col) - P(row == col)) <= P(tolerance));
  // L·Lᴴ with L = {{2, 0}, {1 − 2·i, 3}}; the imaginary part of the diagonal is not looked at.
  for (const Triangle triangle : {Triangle::Lower, Triangle::Upper}) {
    const Cholesky cholesky(Matrix<T>{{T(4, 7), T(2, 4)}, {T(2, -4), T(14, -1)}}, triangle, tested());
    BOOST_TEST(differing(cholesky.l(), Matrix<T>{{T(2), T(0)}, {T(1, -2), T(3)}}) == 0);
    BOOST_TEST(std::abs(cholesky.log_determinant() - std::log(36)) < 1e-14);
    BOOST_TEST(std::abs(cholesky.inverse()(1, 1) - T(P(4) / 36)) <= P(tolerance));
  }
}

/// Directions and logarithms of determinants where the product and its parts' squares are beyond double.
BOOST_AUTO_TEST_CASE(of_large_complex_determinants) {
  using T = std::complex<double>;
  Matrix<T> a = Matrix<T>::identity(4);
  const T factors[] = {{3e300, 4e300}, {-3e300, 4e300}, {0, -1e-310}, {1e-300, 0}};
  for (Index i = 0; i < 4; ++i) a(i, i) = factors[i];
  const ComplexLogarithm logarithm = Lu(a, tested()).log_determinant();
  BOOST_TEST(std::abs(logarithm.sign - T(0, 1)) < 1e-15); // −25·(−i) = 25·i, of all magnitudes
  BOOST_TEST(std::abs(logarithm.logarithm - (2 * std::log(5.0) - 10 * std::log(10.0))) < 1e-9);
  a(2, 2) = 0;
  BOOST_TEST(Lu(a, tested()).log_determinant().sign == T(0));
  BOOST_TEST(Lu(a, tested()).log_determinant().logarithm == -std::numeric_limits<double>::infinity());
  // A real matrix has the bits of its determinant in the real type.
  const Matrix<double> real = Matrix<double>::random(20, 20, Seed{5});
  Matrix<T> same(20, 20);
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 20; ++j) same(i, j) = real(i, j);
  BOOST_TEST(Lu(same, tested()).determinant() == T(Lu(real, tested()).determinant()));
  const SignedLogarithm expected = Lu(real, tested()).log_determinant();
  BOOST_TEST(Lu(same, tested()).log_determinant().logarithm == expected.logarithm);
  BOOST_TEST(Lu(same, tested()).log_determinant().sign == T(expected.sign));
}

/// The determinant of a large matrix may be beyond double, its logarithm is not.
BOOST_AUTO_TEST_CASE(of_large_determinants) {
  Matrix<double> a = Matrix<double>::identity(300);
  for (Index i = 0; i < 300; ++i) a(i, i) = i % 2 == 0 ? 1e10 : -1e10;
  const Lu lu(a, tested());
  BOOST_TEST(std::isinf(lu.determinant()));
  BOOST_TEST(lu.log_determinant().sign == 1);
  BOOST_TEST(std::abs(lu.log_determinant().logarithm - 3000 * std::log(10.0)) < 1e-9);
  a(7, 7) = 0;
  BOOST_TEST(Lu(a, tested()).determinant() == 0);
  BOOST_TEST(Lu(a, tested()).log_determinant().sign == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
