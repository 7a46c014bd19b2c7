/// Tests the bounds of docs/linear_algebra.md for the QR factorisation and least squares, and factors that are known.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

/// Real types that are far more precise than the bounds, and numbers of them.
template <class T>
using PrecisePart = std::conditional_t<sizeof(Part<T>) == 4, double, long double>;
template <class T>
using Precise = std::conditional_t<is_complex<T>, std::complex<PrecisePart<T>>, PrecisePart<T>>;

template <class T>
Precise<T> conjugated(T x) {
  return static_cast<Precise<T>>(conjugate(x));
}
/// |x|², in double.
template <class T>
double square(T x) {
  return static_cast<double>(std::norm(x));
}

double round_up(Index x, Index y) { return static_cast<double>((x + y - 1) / y); }

/// c(n) of docs/linear_algebra.md, which is of twice as many terms where they are complex.
template <class T>
double roundings(Index terms) {
  const Index parts = is_complex<T> ? 2 : 1;
  return static_cast<double>(std::min<Index>(parts * terms, 1024)) + round_up(parts * terms, 1024);
}
/// The bound of a triangular system's relative change.
template <class T>
double of_triangle(Index terms) {
  const double u = std::numeric_limits<Part<T>>::epsilon() / 2, count = roundings<T>(terms) + (is_complex<T> ? 8 : 0);
  return (is_complex<T> ? std::sqrt(2.0) : 1) * count * u / (1 - count * u);
}

/// η of docs/linear_algebra.md for `steps` reflections of columns of m elements.
template <class T>
double eta(Index m, Index steps) {
  const double u = std::numeric_limits<Part<T>>::epsilon() / 2, q = roundings<T>(m) + 5;
  const double k = static_cast<double>(std::min<Index>(32, steps));
  const double panel =
      (is_complex<T> ? 4 : 1) * u *
      ((2 * std::sqrt(2.0) * k * k + 10 * k) * q + 1.46 * std::pow(k, 4) + 4 * std::pow(k, 3) + 2 * k * k + 16 * k + 1);
  const double all = round_up(steps, 32) * panel;
  BOOST_REQUIRE_LT(all, 0.1); // else the bound says little
  return all / (1 - all);
}

/// Shapes for which the bound says much: in f32 with few columns.
template <class T>
std::vector<std::pair<Index, Index>> shapes() {
  const bool quick = conformance::options().quick;
  if (sizeof(Part<T>) == 4 && quick) return {{1, 1}, {9, 5}, {50, 8}, {8, 50}};
  if (sizeof(Part<T>) == 4) return {{1, 1}, {2, 2}, {9, 5}, {100, 16}, {16, 100}, {3000, 8}};
  if (quick) return {{1, 1}, {9, 5}, {33, 33}, {16, 60}};
  return {{1, 1}, {2, 2}, {9, 5}, {33, 33}, {100, 60}, {60, 100}, {200, 200}, {2100, 40}};
}

template <class T>
double norm_of_column(const Matrix<T>& a, Index j) {
  double sum = 0;
  for (Index i = 0; i < a.rows(); ++i) sum += square(Precise<T>(a(i, j)));
  return std::sqrt(sum);
}

/// Returns the norm of column j of A·X − B.
template <class T>
double norm_of_rest(const Matrix<T>& a, const Matrix<T>& x, const Matrix<T>& b, Index j) {
  double sum = 0;
  for (Index i = 0; i < a.rows(); ++i) {
    Precise<T> rest = -static_cast<Precise<T>>(b(i, j));
    for (Index k = 0; k < a.cols(); ++k) rest += static_cast<Precise<T>>(a(i, k)) * static_cast<Precise<T>>(x(k, j));
    sum += square(rest);
  }
  return std::sqrt(sum);
}

template <class T>
void expect_bounds(const Matrix<T>& a) {
  const Index n = std::min(a.rows(), a.cols());
  const double error = eta<T>(a.rows(), n), root = std::sqrt(static_cast<double>(n));
  const Qr qr(a, tested());
  const Matrix<T> q = qr.q(), r = qr.r();
  for (Index j = 0; j < a.cols(); ++j)
    BOOST_TEST(norm_of_rest(q, r, a, j) <= (1 + root * (1 + error)) * error * norm_of_column(a, j));
  const Matrix<T> turned = conjugate_transpose(q), unit = Matrix<T>::identity(n);
  double departure = 0;
  for (Index j = 0; j < n; ++j) departure = std::hypot(departure, norm_of_rest(turned, q, unit, j));
  BOOST_TEST(departure <= 2 * root * error + static_cast<double>(n) * error * error);
  // Q and its transpose, one after the other.
  const Matrix<T> b = Matrix<T>::random(a.rows(), 3, Seed{2});
  const Matrix<T> back = qr.multiply_q(qr.multiply_q_transposed(b)), whole = Matrix<T>::identity(a.rows());
  for (Index j = 0; j < 3; ++j)
    BOOST_TEST(norm_of_rest(whole, back, b, j) <= (2 + error) * error * norm_of_column(b, j));
}

} // namespace

BOOST_AUTO_TEST_SUITE(qr_bounds)

BOOST_AUTO_TEST_CASE_TEMPLATE(of_factors, T, Systems) {
  for (const auto& [m, n] : shapes<T>()) BOOST_TEST_CONTEXT(m << "×" << n) {
      expect_bounds(Matrix<T>::random(m, n, Seed{1}));
      Matrix<T> graded = Matrix<T>::random(m, n, Seed{3});
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) graded(i, j) *= std::ldexp(Part<T>(1), static_cast<int>(j % 60) - 30);
      expect_bounds(graded);
    }
}

/// Each column of A·X − B is at right angles to every column of A, within the bound.
BOOST_AUTO_TEST_CASE_TEMPLATE(of_least_squares, T, Systems) {
  for (const auto& [m, n] : shapes<T>()) {
    if (m < n) continue;
    BOOST_TEST_CONTEXT(m << "×" << n) {
      const Matrix<T> a = Matrix<T>::random(m, n, Seed{4}), b = Matrix<T>::random(m, 1, Seed{5});
      const Matrix<T> x = least_squares(a, b, tested());
      const double error = eta<T>(m, n) + of_triangle<T>(n);
      double scale = norm_of_rest(a, x, b, 0) + norm_of_column(b, 0);
      for (Index k = 0; k < n; ++k) scale += norm_of_column(a, k) * static_cast<double>(std::abs(x(k, 0)));
      for (Index k = 0; k < n; ++k) {
        Precise<T> product = 0;
        for (Index i = 0; i < m; ++i) {
          Precise<T> rest = -static_cast<Precise<T>>(b(i, 0));
          for (Index p = 0; p < n; ++p) rest += static_cast<Precise<T>>(a(i, p)) * static_cast<Precise<T>>(x(p, 0));
          product += rest * conjugated(a(i, k));
        }
        BOOST_TEST(static_cast<double>(std::abs(product)) <= (1 + error) * error * norm_of_column(a, k) * scale);
      }
    }
  }
}

/// A solution of the least norm solves its system, and lies in the space of A's rows: what is not there is 0.
BOOST_AUTO_TEST_CASE_TEMPLATE(of_the_least_norm, T, Systems) {
  const Index m = 7, n = 12;
  const Matrix<T> a = Matrix<T>::random(m, n, Seed{6}), b = Matrix<T>::random(m, 1, Seed{7});
  const Matrix<T> x = least_squares(a, b, tested());
  const double chain = of_triangle<T>(m);
  const double error = eta<T>(n, m), slack = 1 + 3 * error, size = norm_of_column(x, 0);
  double rows = 0;
  for (Index k = 0; k < n; ++k) rows = std::hypot(rows, norm_of_column(a, k));
  BOOST_TEST(norm_of_rest(a, x, b, 0) <= slack * (2 * error + chain) * rows * size);
  const Matrix<T> inside = Qr(conjugate_transpose(a), tested()).multiply_q_transposed(x);
  for (Index i = m; i < n; ++i) BOOST_TEST(static_cast<double>(std::abs(inside(i, 0))) <= slack * 2 * error * size);
}

/// Reflections of 3 and 4 are exact, also where their squares overflow or their numbers are subnormal.
BOOST_AUTO_TEST_CASE_TEMPLATE(of_known_factors, T, Elements) {
  const int largest = std::numeric_limits<T>::max_exponent;
  for (const int power : {0, largest - 4, -largest, 3 - std::numeric_limits<T>::digits - largest})
    for (const int sign : {1, -1}) BOOST_TEST_CONTEXT("times " << sign << "·2^" << power) {
        const auto number = [&](double x) { return std::ldexp(static_cast<T>(x * sign), power); };
        const Matrix<T> a{{number(3), number(5)}, {number(4), number(10)}};
        const Qr qr(a, tested());
        BOOST_TEST(qr.packed()(0, 0) == number(-5));
        BOOST_TEST(qr.packed()(1, 0) == T(0.5));
        BOOST_TEST(qr.tau()[0] == T(1.6));
        BOOST_TEST(qr.tau()[1] == 0); // the last row is left as it is
        BOOST_TEST(qr.r()(1, 0) == 0);
      }
  // A column of length 9 whose first number is complex: beta is real and has the other sign than its real part. A last
  // number that is complex is turned, so that R's diagonal is real.
  using Number = std::complex<T>;
  const Matrix<Number> b{{Number(1, 4), Number(0)}, {Number(0, -8), Number(0)}};
  const Qr complex_qr(b, tested());
  BOOST_TEST(complex_qr.packed()(0, 0) == Number(-9));
  BOOST_TEST(std::abs(complex_qr.tau()[0] - Number(T(10) / 9, T(4) / 9)) <= std::numeric_limits<T>::epsilon());
  BOOST_TEST(std::abs(complex_qr.packed()(1, 0) - Number(0, -8) / Number(10, 4)) <= std::numeric_limits<T>::epsilon());
  const Qr turned(Matrix<Number>{{Number(-3, 4)}}, tested());
  BOOST_TEST(turned.packed()(0, 0) == Number(5));
  BOOST_TEST(turned.tau()[0] == Number(T(1.6), T(-0.8)));
  BOOST_TEST(std::abs(turned.q()(0, 0) - Number(T(-0.6), T(0.8))) <= std::numeric_limits<T>::epsilon());
  const Matrix<T> triangle{{T(2), T(1)}, {T(0), T(-3)}};
  BOOST_TEST(Qr(triangle, tested()).r() == triangle);
  BOOST_TEST(Qr(triangle, tested()).q() == Matrix<T>::identity(2));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
