#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/matrix.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;
using Elements = std::tuple<float, double>;

BOOST_AUTO_TEST_SUITE(arithmetic)

BOOST_AUTO_TEST_CASE_TEMPLATE(element_by_element, T, Elements) {
  const Matrix<T> a{{1, 2, 3}, {4, 5, 6}};
  const Matrix<T> b{{10, 20, 30}, {40, 50, 60}};
  BOOST_TEST((a + b == Matrix<T>{{11, 22, 33}, {44, 55, 66}}));
  BOOST_TEST((b - a == Matrix<T>{{9, 18, 27}, {36, 45, 54}}));
  BOOST_TEST((T{3} * a == Matrix<T>{{3, 6, 9}, {12, 15, 18}}));
  BOOST_TEST((a * T{3} == T{3} * a));
  BOOST_TEST((-a == Matrix<T>{{-1, -2, -3}, {-4, -5, -6}}));
  BOOST_TEST((hadamard(a, b) == Matrix<T>{{10, 40, 90}, {160, 250, 360}}));
  BOOST_TEST((transpose(a) == Matrix<T>{{1, 4}, {2, 5}, {3, 6}}));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(views_take_part, T, Elements) {
  const Matrix<T> a{{1, 2}, {3, 4}};
  const Matrix<T> b{{0, 0, 0}, {0, 5, 6}, {0, 7, 8}};
  const auto part = b.block(1, 1, 2, 2);
  BOOST_TEST((a + part == Matrix<T>{{6, 8}, {10, 12}}));
  BOOST_TEST((a.transposed() - part == Matrix<T>{{-4, -3}, {-5, -4}}));
  BOOST_TEST((T{2} * part.transposed() == Matrix<T>{{10, 14}, {12, 16}}));
  BOOST_TEST((hadamard(part, a.transposed()) == Matrix<T>{{5, 18}, {14, 32}}));
}

BOOST_AUTO_TEST_CASE(shapes_that_differ_are_refused) {
  const Matrix<float> a(2, 3);
  const Matrix<float> b(3, 2);
  expect_error<InvalidArgument>([&] { static_cast<void>(a + b); }, {"addition", "2×3", "3×2"});
  expect_error<InvalidArgument>([&] { static_cast<void>(a - b); }, {"subtraction", "2×3", "3×2"});
  expect_error<InvalidArgument>([&] { static_cast<void>(hadamard(a, b)); }, {"hadamard", "2×3", "3×2"});
  BOOST_TEST((a + b.transposed() == a));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(norms, T, Elements) {
  const Matrix<T> a{{3, -4}, {0, 12}};
  BOOST_TEST(a.sum_of_squares() == 169.0);
  BOOST_TEST(a.norm_frobenius() == 13.0);
  BOOST_TEST(a.norm_max() == 12.0);
  BOOST_TEST(a.norm_sum() == 19.0);
  BOOST_TEST(a.norm_one() == 16.0);
  BOOST_TEST(a.norm_inf() == 12.0);
}

/// f32 elements are summed in double precision: the sum of 2²⁴ + 1 ones is exact.
BOOST_AUTO_TEST_CASE(sums_are_of_double_precision) {
  const Matrix<float> ones(1, (Index{1} << 24) + 1, 1.0f);
  BOOST_TEST(ones.sum_of_squares() == 16777217.0);
  BOOST_TEST(ones.norm_sum() == 16777217.0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(norms_of_nan_and_infinity, T, Elements) {
  Matrix<T> a(30, 40, T{1});
  a(7, 9) = -std::numeric_limits<T>::infinity();
  for (const double norm : {a.norm_frobenius(), a.norm_max(), a.norm_sum(), a.norm_one(), a.norm_inf()})
    BOOST_TEST(norm == HUGE_VAL);
  a(20, 3) = std::numeric_limits<T>::quiet_NaN();
  for (const double norm : {a.norm_frobenius(), a.norm_max(), a.norm_sum(), a.norm_one(), a.norm_inf()})
    BOOST_TEST(std::isnan(norm));
}

BOOST_AUTO_TEST_SUITE_END()
