/// Tests estimates of condition numbers against the inverse, and systems with a transposed matrix.

#include <cmath>
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
