/// Tests estimates of condition numbers against the inverse, and systems with a transposed matrix.

#include <cmath>
#include <initializer_list>
#include <limits>

#include <boost/test/unit_test.hpp>

#include "system/floating_point/states.hpp"
#include "systems.hpp"

namespace tessera::test {
namespace {

template <class T>
double norm(const Matrix<T>& a) {
  double largest = 0;
  for (Index j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (Index i = 0; i < a.rows(); ++i) sum += static_cast<double>(std::abs(a(i, j)));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// What is computed from factors.
template <class T>
struct Numbers {
  double condition = 0, condition_of_root = 0, logarithm_of_root = 0;
  decltype(std::declval<Lu<T>>().determinant()) determinant = 0;
  decltype(std::declval<Lu<T>>().log_determinant()) logarithm;
  Matrix<T> nearest;
};
template <class T>
void compute(Numbers<T>& numbers, const Matrix<T>& a, const Matrix<T>& gram, const Matrix<T>& b) {
  const Lu<T> factors(a, tested());
  const Cholesky<T> root(gram, Triangle::Lower, tested());
  numbers.condition = factors.condition();
  numbers.determinant = factors.determinant();
  numbers.logarithm = factors.log_determinant();
  numbers.condition_of_root = root.condition();
  numbers.logarithm_of_root = root.log_determinant();
  numbers.nearest = least_squares(a, b, tested());
}

} // namespace

BOOST_AUTO_TEST_SUITE(condition)

BOOST_AUTO_TEST_CASE_TEMPLATE(estimates, T, Systems) {
  for (const Index n : {1, 2, 5, 40, 120}) BOOST_TEST_CONTEXT(n) {
      const auto a = Matrix<T>::random(n, n, Seed{static_cast<std::uint64_t>(40 + n)});
      const Lu<T> factors(a, tested());
      const double exact = norm(a) * norm(factors.inverse()), estimate = factors.condition();
      BOOST_TEST(estimate <= exact * 1.001);
      BOOST_TEST(estimate >= exact / 3);
      BOOST_TEST(Lu<T>(a, tested(1)).condition() == estimate);
      BOOST_TEST(Lu<T>(a, formulas).condition() == estimate);
      const auto gram = positive<T>(n, Seed{41});
      const Cholesky<T> root(gram, Triangle::Lower, tested());
      const double symmetric = norm(gram) * norm(root.inverse());
      BOOST_TEST(root.condition() <= symmetric * 1.001);
      BOOST_TEST(root.condition() >= symmetric / 3);
      BOOST_TEST(root.condition() == Cholesky<T>(gram, Triangle::Upper, formulas).condition());
    }
}

BOOST_AUTO_TEST_CASE(ends_of_the_scale) {
  BOOST_TEST(Lu(Matrix<double>::identity(30), tested()).condition() == 1);
  BOOST_TEST(Lu(Matrix<double>(3, 3), tested()).condition() == std::numeric_limits<double>::infinity());
  BOOST_TEST(Lu(Matrix<double>(), tested()).condition() == 0);
  auto a = dominant<double>(6, Seed{42});
  a(2, 3) = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(std::isnan(Lu(a, tested()).condition()));
  BOOST_CHECK_THROW(Lu(Matrix<double>(3, 4, 1.0), tested()).condition(), InvalidArgument);
}

/// Returns 2^exponent·a.
template <class T>
Matrix<T> times_power(const Matrix<T>& a, int exponent) {
  Matrix<T> result(a.view());
  for (Index i = 0; i < result.rows(); ++i)
    for (T& x : result.row(i)) x *= std::ldexp(Part<T>(1), exponent);
  return result;
}

/// Condition numbers do not depend on a power of two by which the matrix is multiplied, up to the ends of the range:
/// where the norm overflows, and where solutions vanish.
BOOST_AUTO_TEST_CASE_TEMPLATE(near_the_ends_of_the_range, T, Systems) {
  constexpr int most = std::numeric_limits<Part<T>>::max_exponent;
  for (const Index n : {1, 3, 60}) BOOST_TEST_CONTEXT(n) {
      const auto a = Matrix<T>::random(n, n, Seed{49}), gram = positive<T>(n, Seed{50});
      const double expected = Lu<T>(a, tested()).condition(), symmetric = Cholesky<T>(gram).condition();
      for (const int exponent : {most - 5, most - 20, 40 - most}) BOOST_TEST_CONTEXT(exponent) {
          BOOST_TEST(Lu<T>(times_power(a, exponent), tested()).condition() == expected);
          const int even = (exponent - 8) / 2 * 2; // so that L is multiplied by a power of two as well
          BOOST_TEST(Cholesky<T>(times_power(gram, even), Triangle::Lower, tested()).condition() == symmetric);
        }
    }
  // The norm is below the largest number, and the inverse's is above it.
  Matrix<T> far = Matrix<T>::identity(2);
  far(1, 1) = std::numeric_limits<Part<T>>::denorm_min();
  far(0, 0) = std::ldexp(Part<T>(1), -20);
  const int exponent = std::numeric_limits<Part<T>>::digits - std::numeric_limits<Part<T>>::min_exponent; // denorm_min
  BOOST_TEST(Lu<T>(far, tested()).condition() == std::ldexp(1.0, exponent - 20));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(determinants_near_the_ends, T, Systems) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto determinant = [](std::initializer_list<T> diagonal) {
    Matrix<T> a(static_cast<Index>(diagonal.size()), static_cast<Index>(diagonal.size()));
    Index i = 0;
    for (const T x : diagonal) a(i, i) = x, ++i;
    return Lu<T>(a, tested()).determinant();
  };
  const Part<T> large = std::sqrt(std::numeric_limits<Part<T>>::max()) * 4, small = 1 / large;
  const double once = static_cast<double>(large) * static_cast<double>(small);
  Matrix<T> a(80, 80); // the first forty numbers have a product that is too large, and the last too small
  double expected = 1;
  for (Index i = 0; i < 80; ++i) a(i, i) = i < 40 ? large : small;
  for (Index i = 0; i < 40; ++i) expected *= once;
  const auto found = Lu<T>(a, tested()).determinant();
  BOOST_TEST(std::abs(std::real(found) - expected) <= 1e-12 * expected);
  BOOST_TEST(std::imag(found) == 0);
  for (Index i = 0; i < 80; ++i) a(i, i) = large;
  BOOST_TEST(std::real(Lu<T>(a, tested()).determinant()) == infinity);
  for (Index i = 0; i < 80; ++i) a(i, i) = small;
  BOOST_TEST(std::real(Lu<T>(a, tested()).determinant()) == 0);
  BOOST_TEST(std::real(determinant({T(2), T(-3)})) == -6);
  if constexpr (is_complex<T>) {
    using P = Part<T>;
    // (1 + i)^k·large^k has both parts until k is a multiple of 2: no part is NaN.
    for (Index i = 0; i < 80; ++i) a(i, i) = {i == 0 ? P(1) : large, i == 0 ? P(1) : P(0)};
    const auto both = Lu<T>(a, tested()).determinant();
    BOOST_TEST(both.real() == infinity);
    BOOST_TEST(both.imag() == infinity);
    a(1, 1) = {P(0), -large}; // (1 + i)·(−i) = 1 − i
    const auto turned = Lu<T>(a, tested()).determinant();
    BOOST_TEST(turned.real() == infinity);
    BOOST_TEST(turned.imag() == -infinity);
    for (Index i = 1; i < 80; ++i) a(i, i) = {P(0), i < 41 ? large : small}; // i^79 = −i, one large number more
    const auto finite = Lu<T>(a, tested()).determinant();
    const double size = static_cast<double>(large) * std::pow(once, 39);
    BOOST_TEST(std::abs(finite.real() - size) <= 1e-10 * size); // (1 + i)·(−i)
    BOOST_TEST(std::abs(finite.imag() + size) <= 1e-10 * size);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(in_any_floating_point_state, T, Systems) {
  constexpr auto least = std::numeric_limits<Part<T>>::min();
  for (const Part<T> scale : {Part<T>(1), least / 8}) BOOST_TEST_CONTEXT("scale " << scale) {
      auto a = dominant<T>(7, Seed{46});
      for (Index i = 0; i < 7; ++i)
        for (T& x : a.row(i)) x *= scale;
      const auto gram = positive<T>(7, Seed{47}), b = Matrix<T>::random(7, 2, Seed{48}, -scale, scale);
      Numbers<T> expected;
      compute(expected, a, gram, b);
      BOOST_TEST(expected.logarithm.logarithm != 0);
      for (const CallersState& state : callers_states()) BOOST_TEST_CONTEXT(state.name) {
          Numbers<T> found;
          BOOST_TEST(leaves_state(state, [&] { compute(found, a, gram, b); }));
          BOOST_TEST(found.condition == expected.condition);
          BOOST_TEST((found.determinant == expected.determinant));
          BOOST_TEST((found.logarithm.sign == expected.logarithm.sign));
          BOOST_TEST(found.logarithm.logarithm == expected.logarithm.logarithm);
          BOOST_TEST(found.condition_of_root == expected.condition_of_root);
          BOOST_TEST(found.logarithm_of_root == expected.logarithm_of_root);
          BOOST_TEST(differing(found.nearest, expected.nearest) == 0);
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(transposed_systems, T, Systems) {
  for (const Index n : {1, 7, 130})
    for (const bool conjugate : {false, true}) BOOST_TEST_CONTEXT(n << ", conjugate: " << conjugate) {
        const auto a = Matrix<T>::random(n, n, Seed{43}), b = Matrix<T>::random(n, 3, Seed{44});
        const auto solved = [&](const SolveOptions& options) {
          const Lu<T> factors(a, options);
          return conjugate ? factors.solve_conjugate_transposed(b) : factors.solve_transposed(b);
        };
        const Matrix<T> x = solved(tested()), turned = conjugate ? conjugate_transpose(a) : Matrix<T>(a.transposed());
        BOOST_TEST(differing(x, solved(formulas)) == 0);
        const auto product = gemm(turned, x);
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < 3; ++j) {
            double size = static_cast<double>(std::abs(b(i, j)));
            for (Index k = 0; k < n; ++k) size += static_cast<double>(std::abs(turned(i, k)) * std::abs(x(k, j)));
            const double off = static_cast<double>(std::abs(product(i, j) - b(i, j)));
            BOOST_TEST(off <= 100 * static_cast<double>(n) * std::numeric_limits<Part<T>>::epsilon() * size);
          }
      }
  BOOST_CHECK_THROW(Lu(Matrix<T>(3, 3), tested()).solve_transposed(Matrix<T>(3, 1)), SingularMatrix);
  BOOST_CHECK_THROW(Lu(Matrix<T>(3, 3), tested()).solve_conjugate_transposed(Matrix<T>(3, 1)), SingularMatrix);
  BOOST_CHECK_THROW(Lu(dominant<T>(3, Seed{45}), tested()).solve_transposed(Matrix<T>(2, 1)), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
