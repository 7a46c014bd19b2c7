/// Tests grades by the growth of the error: conventional products get A, other algorithms the grades of their errors.

#include <tessera/checking/grade.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/status.hpp>

#include "compare_problem.hpp"
#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// Returns errors of factor·n^power in each sense; each sense's error is `shrink` times smaller than the one before.
std::vector<SizeErrors> growing(double factor, double power, double shrink = 1) {
  std::vector<SizeErrors> sizes;
  for (const Index n : {16, 32, 64, 128}) {
    const double error = factor * std::pow(static_cast<double>(n), power);
    sizes.push_back({n, error, error * shrink, error * shrink * shrink});
  }
  return sizes;
}

template <class T>
Matrix<T> added(const Matrix<T>& x, const Matrix<T>& y, T sign) {
  Matrix<T> z(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) z(i, j) = x(i, j) + sign * y(i, j);
  return z;
}

template <class T>
Matrix<T> quarter(const Matrix<T>& x, Index row, Index col) {
  const Index half = x.rows() / 2;
  Matrix<T> z(half, half);
  for (Index i = 0; i < half; ++i)
    for (Index j = 0; j < half; ++j) z(i, j) = x(row * half + i, col * half + j);
  return z;
}

/// Computes a product by Strassen's seven products, down to 1×1.
Matrix<float> strassen(const Matrix<float>& a, const Matrix<float>& b) {
  const Index n = a.rows();
  if (n <= 4) return CompareProblem<float>(Matrix<float>(a), Matrix<float>(b)).run("canonical");
  const auto x = [&](Index i, Index j) { return quarter(a, i, j); };
  const auto y = [&](Index i, Index j) { return quarter(b, i, j); };
  const Matrix<float> m1 = strassen(added(x(0, 0), x(1, 1), 1.0f), added(y(0, 0), y(1, 1), 1.0f));
  const Matrix<float> m2 = strassen(added(x(1, 0), x(1, 1), 1.0f), y(0, 0));
  const Matrix<float> m3 = strassen(x(0, 0), added(y(0, 1), y(1, 1), -1.0f));
  const Matrix<float> m4 = strassen(x(1, 1), added(y(1, 0), y(0, 0), -1.0f));
  const Matrix<float> m5 = strassen(added(x(0, 0), x(0, 1), 1.0f), y(1, 1));
  const Matrix<float> m6 = strassen(added(x(1, 0), x(0, 0), -1.0f), added(y(0, 0), y(0, 1), 1.0f));
  const Matrix<float> m7 = strassen(added(x(0, 1), x(1, 1), -1.0f), added(y(1, 0), y(1, 1), 1.0f));
  const Matrix<float> c00 = added(added(m1, m4, 1.0f), added(m7, m5, -1.0f), 1.0f);
  const Matrix<float> c01 = added(m3, m5, 1.0f);
  const Matrix<float> c10 = added(m2, m4, 1.0f);
  const Matrix<float> c11 = added(added(m1, m2, -1.0f), added(m3, m6, 1.0f), 1.0f);
  Matrix<float> c(n, n);
  for (Index i = 0; i < n / 2; ++i)
    for (Index j = 0; j < n / 2; ++j) {
      c(i, j) = c00(i, j);
      c(i, j + n / 2) = c01(i, j);
      c(i + n / 2, j) = c10(i, j);
      c(i + n / 2, j + n / 2) = c11(i, j);
    }
  return c;
}

/// Rounds each row of A and each column of B to 24 bits below its largest element, as fixed-point emulation does.
CompareProblem<float> fixed_point(CompareProblem<float> problem) {
  const auto cut = [](float& x, float largest) {
    const float step = std::ldexp(1.0f, std::ilogb(largest) - 22);
    x = std::nearbyint(x / step) * step;
  };
  const Index n = problem.a.rows();
  for (Index i = 0; i < n; ++i) {
    float row = 0, col = 0;
    for (Index p = 0; p < n; ++p) row = std::max(row, std::abs(problem.a(i, p)));
    for (Index p = 0; p < n; ++p) col = std::max(col, std::abs(problem.b(p, i)));
    for (Index p = 0; p < n; ++p) cut(problem.a(i, p), row);
    for (Index p = 0; p < n; ++p) cut(problem.b(p, i), col);
  }
  return problem;
}

/// Grades the products that `multiply` computes of problems from `make`.
template <class Make, class Multiply>
Grading graded(const Make& make, const Multiply& multiply) {
  std::vector<SizeErrors> sizes;
  for (const Index n : {16, 32, 64, 128}) {
    const CompareProblem<float> problem = make(n);
    sizes.push_back(SizeErrors::of(n, errors(problem.reference(), multiply(problem), strict<float>)));
  }
  return grade_growth(sizes);
}

CompareProblem<float> uniform(Index n) { return {n, n, n}; }

/// Makes a problem A·D times D⁻¹·B: op(A) grows along k as op(B) shrinks.
CompareProblem<float> scaled_inside(Index n) {
  CompareProblem<float> problem(n, n, n);
  for (Index p = 0; p < n; ++p) {
    const float factor = std::ldexp(1.0f, static_cast<int>(48 * p / n) - 24);
    for (Index i = 0; i < n; ++i) {
      problem.a(i, p) *= factor;
      problem.b(p, i) /= factor;
    }
  }
  return problem;
}

/// Makes a problem whose rows of A differ very much in size.
CompareProblem<float> scaled_rows(Index n) {
  CompareProblem<float> problem(n, n, n);
  for (Index i = 0; i < n; ++i)
    for (Index p = 0; p < n; ++p) problem.a(i, p) = std::ldexp(problem.a(i, p), static_cast<int>(40 * i / n) - 20);
  return problem;
}

Matrix<float> by_strassen(const CompareProblem<float>& problem) { return strassen(problem.a, problem.b); }
Matrix<float> by_fixed_point(const CompareProblem<float>& problem) { return fixed_point(problem).run("canonical"); }

} // namespace

BOOST_AUTO_TEST_SUITE(grades)

BOOST_AUTO_TEST_CASE(slopes_are_fitted) {
  for (const double power : {-0.5, 0.0, 0.5, 1.0, 2.0})
    BOOST_TEST(growth_slope(growing(0.1, power), &SizeErrors::componentwise) == power,
               boost::test_tools::tolerance(1e-12));
  std::vector<SizeErrors> sizes = growing(0.1, 0.5);
  sizes.push_back({256, 0, 0, 0}); // an exact result says nothing about growth
  BOOST_TEST(growth_slope(sizes, &SizeErrors::componentwise) == 0.5, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(growth_slope(growing(0, 1), &SizeErrors::componentwise) == 0);
}

BOOST_AUTO_TEST_CASE(growth_and_size_decide) {
  BOOST_TEST((grade_growth(growing(1, 0.5)).grade == Grade::A));
  BOOST_TEST((grade_growth(growing(1, 1)).grade == Grade::A));
  BOOST_TEST((grade_growth(growing(0, 1)).grade == Grade::A)); // exact
  BOOST_TEST((grade_growth(growing(1e-3, 1.5)).grade == Grade::None));
  BOOST_TEST((grade_growth(growing(1e4, 0)).grade == Grade::None));
  BOOST_TEST((grade_growth(growing(1e4, 0, 1e-3)).grade == Grade::B));
  BOOST_TEST((grade_growth(growing(1e7, 0, 1e-3)).grade == Grade::C));
  for (const double bad : {HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<SizeErrors> sizes = growing(1, 0.5);
    sizes[1] = {32, bad, bad, bad};
    BOOST_TEST((grade_growth(sizes).grade == Grade::None));
  }
}

BOOST_AUTO_TEST_CASE(conventional_products_are_graded_a) {
  for (const auto& make : {uniform, scaled_inside, scaled_rows})
    for (const char* kernel : {"canonical", "gold"}) {
      const Grading grading = graded(make, [&](const CompareProblem<float>& problem) { return problem.run(kernel); });
      BOOST_TEST((grading.grade == Grade::A), kernel << ": slope " << grading.slope);
    }
}

/// Rounding by row and column is seen where the sizes of terms differ within a sum.
BOOST_AUTO_TEST_CASE(fixed_point_is_graded_b) {
  BOOST_TEST((graded(scaled_inside, by_fixed_point).grade == Grade::B));
  BOOST_TEST((graded(scaled_rows, by_fixed_point).grade == Grade::A));
}

/// Strassen's sums mix rows, so that small rows lose bits to large ones.
BOOST_AUTO_TEST_CASE(strassen_is_graded_c) { BOOST_TEST((graded(scaled_rows, by_strassen).grade == Grade::C)); }

BOOST_AUTO_TEST_CASE(narrow_inputs_have_no_grade) {
  const auto bf16 = [](const CompareProblem<float>& problem) {
    CompareProblem<float> narrow = problem;
    for (Index i = 0; i < narrow.a.rows(); ++i)
      for (Index p = 0; p < narrow.a.cols(); ++p)
        narrow.a(i, p) = std::ldexp(std::nearbyint(std::ldexp(narrow.a(i, p), 8)), -8);
    return narrow.run("canonical");
  };
  BOOST_TEST((graded(uniform, bf16).grade == Grade::None));
}

BOOST_AUTO_TEST_CASE(too_few_sizes_are_refused) {
  std::vector<SizeErrors> sizes = growing(1, 1);
  sizes.resize(2);
  expect_error<InvalidArgument>([&] { grade_growth(sizes); }, {"2 different sizes", "3"});
  sizes.push_back(sizes.back());
  expect_error<InvalidArgument>([&] { grade_growth(sizes); }, {"2 different sizes"});
  sizes.push_back({0, 1, 1, 1});
  expect_error<InvalidArgument>([&] { grade_growth(sizes); }, {"0 is not positive"});
}

BOOST_AUTO_TEST_CASE(grades_have_names) {
  BOOST_TEST(to_string(Grade::A) == "A");
  BOOST_TEST(to_string(Grade::None) == "none");
}

BOOST_AUTO_TEST_SUITE_END()
