/// Tests the randomised check of a whole product: right products pass, planted errors are found, and the check says
/// which rows it cannot judge.

#include <tessera/checking/freivalds.hpp>

#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/random.hpp>
#include <tessera/status.hpp>

#include "compare_problem.hpp"
#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::test;
using Elements = std::tuple<float, double>;

namespace {

template <class T>
constexpr Arithmetic canonical{dtype_of<T>, Math::Strict, Summation::Canonical, Accumulator::Native};
template <class T>
constexpr Arithmetic gold{dtype_of<T>, Math::Strict, Summation::Other, Accumulator::Wider};

template <class T>
FreivaldsCheck check_of(const CompareProblem<T>& problem, std::uint64_t seed = 1, int vectors = 16) {
  Matrix<T> before = problem.c;
  return FreivaldsCheck(problem.call(before), seed, vectors, 2);
}
template <class T>
FreivaldsResult result_of(const FreivaldsCheck& check, const Matrix<T>& c, const Arithmetic& arithmetic = strict<T>) {
  return check.check(c.data(), c.ld(), arithmetic, 2);
}

/// Returns Σ_j bound_ij, the bound of a row's error, from the element-wise comparison.
template <class T>
double row_bound(const CompareProblem<T>& problem, Index row) {
  const Matrix<T> right = problem.run("canonical");
  Matrix<T> c = right;
  double sum = 0;
  const GemmReference reference = problem.reference();
  for (Index j = 0; j < c.cols(); ++j) {
    c(row, j) += 1000; // so that it is the worst, and its bound is known
    sum += errors(reference, c, strict<T>).worst.at(0).bound;
    c(row, j) = right(row, j);
  }
  return sum;
}

} // namespace

BOOST_AUTO_TEST_SUITE(freivalds)

BOOST_AUTO_TEST_CASE_TEMPLATE(right_products_pass, T, Elements) {
  for (const auto& [m, n, k] : {std::array<Index, 3>{1, 1, 1}, {3, 5, 7}, {64, 65, 300}, {33, 17, 2300}, {300, 1, 2}})
    for (const Op op_a : {Op::None, Op::Transpose})
      for (const Op op_b : {Op::None, Op::Transpose})
        for (const double beta : {0.0, -0.75}) {
          CompareProblem<T> problem(m, n, k);
          if (op_a == Op::Transpose) problem.a = transpose(problem.a);
          if (op_b == Op::Transpose) problem.b = transpose(problem.b);
          problem.op_a = op_a;
          problem.op_b = op_b;
          problem.alpha = beta == 0 ? 1 : 1.5;
          problem.beta = beta;
          const FreivaldsCheck check = check_of(problem);
          const FreivaldsResult result = result_of(check, problem.run("canonical"), canonical<T>);
          BOOST_TEST(result.within_bound(), m << "×" << n << "×" << k << ": " << result.max_over_bound);
          BOOST_TEST(result.complete());
          BOOST_TEST(result.rows == m);
          BOOST_TEST(result.vectors == 16);
          BOOST_TEST(result_of(check, problem.run("gold"), gold<T>).within_bound());
        }
}

/// The expected values are far more accurate than the bound: the error of a result rounded once is far below it.
BOOST_AUTO_TEST_CASE_TEMPLATE(the_right_hand_side_is_accurate, T, Elements) {
  const CompareProblem<T> problem(50, 60, 1000);
  BOOST_TEST(result_of(check_of(problem), problem.run("gold")).max_over_bound < 1e-3);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_wrong_element_anywhere_is_found, T, Elements) {
  const CompareProblem<T> problem(60, 40, 50);
  const Matrix<T> right = problem.run("canonical");
  const FreivaldsCheck check = check_of(problem);
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {59, 39}, {17, 23}, {31, 0}}) {
    Matrix<T> c = right;
    c(i, j) += static_cast<T>(2.5 * row_bound(problem, i)); // above twice the row's bound: certain
    const FreivaldsResult result = result_of(check, c);
    BOOST_TEST(!result.within_bound());
    BOOST_TEST(result.worst_row == i);
    for (std::uint64_t seed = 2; seed < 6; ++seed) BOOST_TEST(!result_of(check_of(problem, seed), c).within_bound());
  }
}

/// The check cannot see an element that is beyond its own bound, but not beyond its row's bound.
BOOST_AUTO_TEST_CASE_TEMPLATE(what_stays_below_the_rows_bound_is_not_seen, T, Elements) {
  const CompareProblem<T> problem(10, 400, 50);
  Matrix<T> c = problem.run("gold");
  c(4, 5) += static_cast<T>(row_bound(problem, 4) / 4);
  BOOST_TEST(result_of(check_of(problem), c).within_bound());
  BOOST_TEST(!errors(problem.reference(), c, strict<T>).within_bound());
}

/// Errors that cancel for one vector do not cancel for all of them.
BOOST_AUTO_TEST_CASE_TEMPLATE(errors_that_cancel_are_found, T, Elements) {
  const CompareProblem<T> problem(8, 64, 32);
  const Matrix<T> right = problem.run("canonical");
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Matrix<T> c = right;
    const T off = static_cast<T>(4 * row_bound(problem, 3));
    c(3, static_cast<Index>(seed)) += off;
    c(3, static_cast<Index>(seed) + 7) -= off;
    BOOST_TEST(!result_of(check_of(problem, seed), c).within_bound());
  }
}

/// A single vector misses a pair of equal errors with the documented probability of one half, and not more often.
BOOST_AUTO_TEST_CASE(sixteen_vectors_miss_as_seldom_as_stated) {
  const CompareProblem<float> problem(1, 2, 4);
  Matrix<float> c = problem.run("canonical");
  c(0, 0) += 1.0f;
  c(0, 1) += 1.0f;
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) missed += result_of(check_of(problem, seed), c).within_bound();
  BOOST_TEST(missed <= 2); // 0.03 are expected
}

BOOST_AUTO_TEST_CASE_TEMPLATE(swapped_blocks_and_transposes_are_found, T, Elements) {
  const CompareProblem<T> problem(48, 48, 48);
  const Matrix<T> right = problem.run("canonical");
  const FreivaldsCheck check = check_of(problem);
  const Matrix<T> transposed = transpose(right);
  BOOST_TEST(!result_of(check, transposed).within_bound());
  Matrix<T> swapped = right;
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j) std::swap(swapped(8 + i, 12 + j), swapped(8 + i, 32 + j));
  BOOST_TEST(!result_of(check, swapped).within_bound());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(nan_and_inf_in_the_result_fail, T, Elements) {
  const CompareProblem<T> problem(20, 20, 20);
  const FreivaldsCheck check = check_of(problem);
  for (const T value :
       {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity()}) {
    Matrix<T> c = problem.run("canonical");
    c(11, 12) = value;
    const FreivaldsResult result = result_of(check, c);
    BOOST_TEST(!result.within_bound());
    BOOST_TEST(result.worst_row == 11);
    BOOST_TEST(std::isinf(result.max_over_bound));
  }
  Matrix<T> opposite = problem.run("canonical");
  opposite(11, 12) = std::numeric_limits<T>::max();
  opposite(11, 13) = std::numeric_limits<T>::lowest();
  BOOST_TEST(!result_of(check, opposite).within_bound());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(rows_that_cannot_be_judged_are_counted, T, Elements) {
  CompareProblem<T> problem(20, 20, 20);
  problem.a(3, 4) = std::numeric_limits<T>::quiet_NaN();
  problem.a(7, 0) = std::numeric_limits<T>::infinity();
  problem.a(9, 9) = std::numeric_limits<T>::max();
  Matrix<T> c = problem.run("canonical");
  FreivaldsResult result = result_of(check_of(problem), c);
  BOOST_TEST(result.rows_judged == 17);
  BOOST_TEST(!result.complete());
  BOOST_TEST(result.within_bound());
  c(8, 8) += 1;
  BOOST_TEST(!result_of(check_of(problem), c).within_bound());
  problem.b(0, 0) = std::numeric_limits<T>::infinity();
  result = result_of(check_of(problem), problem.run("canonical"));
  BOOST_TEST(result.rows_judged == 0);
}

BOOST_AUTO_TEST_CASE(special_values_of_c_count_if_beta_does) {
  CompareProblem<float> problem(6, 6, 6);
  problem.c(2, 2) = NAN;
  BOOST_TEST(result_of(check_of(problem), problem.run("canonical")).complete());
  problem.beta = 1;
  const FreivaldsResult result = result_of(check_of(problem), problem.run("canonical"));
  BOOST_TEST(result.rows_judged == 5);
  BOOST_TEST(result.within_bound());
}

BOOST_AUTO_TEST_CASE(nothing_is_read_where_alpha_is_zero) {
  CompareProblem<float> problem(4, 5, 6);
  problem.a.fill(NAN);
  problem.alpha = 0;
  problem.beta = 2;
  const FreivaldsCheck check = check_of(problem);
  const Matrix<float> c = 2.0f * problem.c;
  BOOST_TEST(result_of(check, c).within_bound());
  BOOST_TEST(result_of(check, c).complete());
  BOOST_TEST(!result_of(check, problem.c).within_bound());
}

BOOST_AUTO_TEST_CASE(narrow_inputs_have_their_own_bound) {
  const CompareProblem<float> problem(30, 30, 30);
  Matrix<float> a = problem.a;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index p = 0; p < a.cols(); ++p) a(i, p) = static_cast<float>(std::nearbyint(a(i, p) * 0x1p9f) * 0x1p-9f);
  const Matrix<float> c = CompareProblem<float>(std::move(a), problem.b).run("canonical");
  const FreivaldsCheck check = check_of(problem);
  BOOST_TEST(result_of(check, c, {DType::F32, Math::Bf16, Summation::Other, Accumulator::Native}).within_bound());
  BOOST_TEST(!result_of(check, c).within_bound());
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  CompareProblem<float> problem(4, 4, 4);
  Matrix<float> c = problem.c;
  GemmCall call = problem.call(c);
  expect_error<InvalidArgument>([&] { FreivaldsCheck(call, 1, 0, 1); }, {"0 vectors"});
  expect_error<InvalidArgument>([&] { result_of(check_of(problem), c, strict<double>); }, {"f32", "f64"});
  call.lda = 3;
  expect_error<InvalidArgument>([&] { FreivaldsCheck(call, 1, 16, 1); }, {"lda = 3", "4"});
}

BOOST_AUTO_TEST_SUITE_END()
