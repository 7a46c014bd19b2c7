/// Tests the bounds of docs/contract.md for factors and solutions, and determinants and inverses that are known.

#include <algorithm>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

/// A type in which sums of products of T are exact, or far more precise than the bounds.
template <class T>
using Precise = std::conditional_t<sizeof(T) == 4, double, long double>;

/// γ of so many roundings, and a little for the sums of this test.
template <class T>
Precise<T> gamma_of(Index roundings) {
  const Precise<T> nu = static_cast<Precise<T>>(roundings) * std::numeric_limits<T>::epsilon() / 2;
  return Precise<T>(1.01) * nu / (1 - nu);
}

/// The number of roundings in docs/contract.md: a chain, and a subtraction for each segment.
Index roundings(Index terms) { return std::min<Index>(terms, 1024) + (terms + 1023) / 1024; }

/// Returns the largest of |A − X·Y| / (γ·|X||Y|), for X m×k and Y k×n.
template <class T, class X, class Y>
double over_bound(const Matrix<T>& a, Index k, const X& x, const Y& y, Index count) {
  double largest = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j) {
      Precise<T> rest = a(i, j), size = 0;
      for (Index p = 0; p < k; ++p) {
        const Precise<T> product = static_cast<Precise<T>>(x(i, p)) * static_cast<Precise<T>>(y(p, j));
        rest -= product;
        size += std::abs(product);
      }
      if (rest != 0) largest = std::max(largest, static_cast<double>(std::abs(rest) / (gamma_of<T>(count) * size)));
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

BOOST_AUTO_TEST_CASE_TEMPLATE(of_factors, T, Elements) {
  for (const Index n : orders()) BOOST_TEST_CONTEXT(n) {
      const Matrix<T> a = Matrix<T>::random(n, n, Seed{1});
      const Lu lu(a, tested());
      const Matrix<T>& f = lu.packed();
      const auto l = [&](Index i, Index p) { return p < i ? f(i, p) : T(p == i); };
      const auto u = [&](Index p, Index j) { return p <= j ? f(p, j) : T(0); };
      BOOST_TEST(over_bound(permuted(a, lu.pivots()), n, l, u, roundings(n)) <= 1);
      const Matrix<T> symmetric = positive<T>(n, Seed{2});
      const Cholesky cholesky(symmetric, Triangle::Lower, tested());
      const auto lower = [&](Index i, Index p) { return cholesky.l()(i, p); };
      const auto upper = [&](Index p, Index j) { return cholesky.l()(j, p); };
      BOOST_TEST(over_bound(symmetric, n, lower, upper, roundings(n) + 1) <= 1);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_solutions, T, Elements) {
  for (const Index n : orders()) BOOST_TEST_CONTEXT(n) {
      const Matrix<T> t = dominant<T>(n, Seed{3}), b = Matrix<T>::random(n, 5, Seed{4});
      const Matrix<T> x = triangular_solve(Triangle::Lower, t, b, Side::Left, Diagonal::Stored, tested());
      const auto lower = [&](Index i, Index p) { return p <= i ? t(i, p) : T(0); };
      const auto solution = [&](Index p, Index j) { return x(p, j); };
      BOOST_TEST(over_bound(b, n, lower, solution, roundings(n)) <= 1);
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
