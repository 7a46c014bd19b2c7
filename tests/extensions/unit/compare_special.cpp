/// Tests NaN, infinities and overflow: they must be where IEEE arithmetic puts them, and a NaN elsewhere never passes.

#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include "compare_problem.hpp"

using namespace tessera;
using namespace tessera::test;
using Elements = std::tuple<float, double>;

namespace {

template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

} // namespace

BOOST_AUTO_TEST_SUITE(compare_special)

BOOST_AUTO_TEST_CASE_TEMPLATE(nan_fails, T, Elements) {
  CompareProblem<T> problem(5, 6, 7);
  const GemmReference reference = problem.reference();
  for (const T value : {not_a_number<T>, inf<T>, -inf<T>}) {
    Matrix<T> c = problem.run("canonical");
    c(2, 3) = value;
    const GemmError error = errors(reference, c, strict<T>);
    BOOST_TEST(!error.within_bound());
    BOOST_TEST(error.misplaced == 1);
    BOOST_TEST(error.worst_row == 2);
    BOOST_TEST(error.worst_col == 3);
    BOOST_TEST(std::isinf(error.total_abs));
    BOOST_TEST(std::isinf(error.max_rel));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_result_that_was_never_written_fails, T, Elements) {
  CompareProblem<T> problem(5, 6, 7);
  const GemmError error = errors(problem.reference(), Matrix<T>(5, 6, not_a_number<T>), strict<T>);
  BOOST_TEST(error.misplaced == 30);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(special_inputs_come_out_where_they_belong, T, Elements) {
  CompareProblem<T> problem(6, 6, 8);
  problem.a(0, 3) = not_a_number<T>;
  problem.a(1, 2) = inf<T>;
  problem.a(2, 5) = -inf<T>;
  problem.a(3, 1) = inf<T>;
  problem.a(3, 4) = -inf<T>; // meets infinities of either sign
  problem.b(2, 5) = 0;       // infinity times zero
  problem.b(7, 4) = not_a_number<T>;
  const Matrix<T> c = problem.run("canonical");
  BOOST_TEST(std::isnan(c(1, 5)));
  BOOST_TEST(std::isinf(c(1, 0)));
  const GemmReference reference = problem.reference();
  const GemmError right = errors(reference, c, strict<T>);
  BOOST_TEST(right.within_bound());
  BOOST_TEST(right.differing_bits == 0);
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {1, 0}, {1, 5}, {2, 1}, {3, 0}, {5, 4}}) {
    Matrix<T> wrong = c;
    wrong(i, j) = 1;
    BOOST_TEST(errors(reference, wrong, strict<T>).misplaced == 1);
    wrong(i, j) = std::isnan(c(i, j)) ? inf<T> : -c(i, j);
    BOOST_TEST(errors(reference, wrong, strict<T>).misplaced == 1);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(special_values_of_c_count_if_beta_does, T, Elements) {
  CompareProblem<T> problem(4, 4, 4);
  problem.c(1, 1) = not_a_number<T>;
  problem.c(2, 2) = -inf<T>;
  BOOST_TEST(errors(problem.reference(), problem.run("canonical"), strict<T>).within_bound()); // beta = 0: not read
  problem.beta = 2;
  const GemmReference reference = problem.reference();
  Matrix<T> c = problem.run("canonical");
  BOOST_TEST(std::isnan(c(1, 1)));
  BOOST_TEST(c(2, 2) == -inf<T>);
  BOOST_TEST(errors(reference, c, strict<T>).within_bound());
  c(1, 1) = 0;
  BOOST_TEST(errors(reference, c, strict<T>).misplaced == 1);
}

/// Where finite terms overflow and another term is infinite, the infinity decides, not the order.
BOOST_AUTO_TEST_CASE(infinity_beside_overflow) {
  Matrix<double> a{{1e200, -1e200, std::numeric_limits<double>::infinity(), 1}};
  Matrix<double> b(4, 1, 1e200);
  const CompareProblem<double> problem(std::move(a), std::move(b));
  const GemmReference reference = problem.reference();
  BOOST_TEST(errors(reference, Matrix<double>(1, 1, inf<double>), strict<double>).within_bound());
  BOOST_TEST(!errors(reference, Matrix<double>(1, 1, 0.0), strict<double>).within_bound());
}

/// Terms that overflow to −Inf before +Inf is added give NaN, which is right in that order. −Inf or a number is right
/// in no order; and without the overflow NaN is wrong too.
BOOST_AUTO_TEST_CASE_TEMPLATE(infinity_after_an_overflow, T, Elements) {
  const T large = std::sqrt(std::numeric_limits<T>::max());
  for (const T factor : {T{2}, T{0.25}}) {
    const CompareProblem<T> problem(Matrix<T>{{-factor * large, -factor * large, inf<T>}},
                                    Matrix<T>{{factor * large}, {factor * large}, {T{1}}});
    const GemmReference reference = problem.reference();
    const auto passes = [&](T c) { return errors(reference, Matrix<T>(1, 1, c), strict<T>).within_bound(); };
    BOOST_TEST(passes(inf<T>));
    BOOST_TEST(passes(not_a_number<T>) == (factor > 1));
    BOOST_TEST(!passes(-inf<T>));
    BOOST_TEST(!passes(T{1}));
    BOOST_TEST(passes(problem.run("canonical")(0, 0)));
  }
}

/// An infinity times the smallest number is infinite, or NaN where the input type is so narrow that the number becomes
/// zero. A finite result is wrong in both cases.
BOOST_AUTO_TEST_CASE(infinity_times_what_rounds_to_zero) {
  const float smallest = std::numeric_limits<float>::denorm_min();
  const CompareProblem<float> problem(Matrix<float>{{inf<float>, 1.0f}}, Matrix<float>{{smallest}, {1.0f}});
  const GemmReference reference = problem.reference();
  for (const Math math : {Math::Strict, Math::Tf32, Math::Bf16, Math::Fp16}) {
    const auto passes = [&](float c) {
      return errors(reference, Matrix<float>(1, 1, c), {.type = DType::F32, .math = math}).within_bound();
    };
    BOOST_TEST(passes(inf<float>));
    BOOST_TEST(passes(not_a_number<float>) == (math != Math::Strict));
    BOOST_TEST(!passes(-inf<float>));
    BOOST_TEST(!passes(1.0f));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(finite_inputs_that_overflow, T, Elements) {
  const T large = std::sqrt(std::numeric_limits<T>::max());
  const CompareProblem<T> problem(Matrix<T>(2, 8, large), Matrix<T>(8, 2, large));
  const GemmReference reference = problem.reference();
  BOOST_TEST(errors(reference, problem.run("canonical"), strict<T>).within_bound());
  BOOST_TEST(errors(reference, Matrix<T>(2, 2, inf<T>), strict<T>).within_bound());
  BOOST_TEST(errors(reference, Matrix<T>(2, 2, not_a_number<T>), strict<T>).within_bound()); // another order: Inf − Inf
}

/// Σ|a| overflows. Only the bounds of modes that round their inputs use it.
BOOST_AUTO_TEST_CASE_TEMPLATE(bounds_are_finite_beside_the_largest_numbers, T, Elements) {
  const T largest = std::numeric_limits<T>::max();
  const CompareProblem<T> problem(Matrix<T>{{largest, largest, T{1}}}, Matrix<T>{{T{0.125}}, {T{0.25}}, {T{3}}});
  const GemmReference reference = problem.reference();
  const T right = problem.run("canonical")(0, 0);
  BOOST_TEST(errors(reference, Matrix<T>(1, 1, right), strict<T>).within_bound());
  const GemmError near = errors(reference, Matrix<T>(1, 1, std::nextafter(right, T{0})), strict<T>);
  BOOST_TEST(near.within_bound());
  BOOST_TEST(near.max_over_bound > 0.1);
  BOOST_TEST(near.componentwise < 2);
  BOOST_TEST(!errors(reference, Matrix<T>(1, 1, right / 2), strict<T>).within_bound());
}

BOOST_AUTO_TEST_CASE(a_finite_answer_far_from_an_overflow_is_wrong) {
  const CompareProblem<float> problem(Matrix<float>(2, 8, 1e30f), Matrix<float>(8, 2, 1e30f));
  BOOST_TEST(!errors(problem.reference(), Matrix<float>(2, 2, 1.0f), strict<float>).within_bound());
}

BOOST_AUTO_TEST_CASE(a_missed_zero_has_an_infinite_relative_error) {
  const CompareProblem<double> problem(Matrix<double>{{1, -1}}, Matrix<double>{{1}, {1}});
  const GemmError error = errors(problem.reference(), Matrix<double>(1, 1, 1e-17), strict<double>);
  BOOST_TEST(std::isinf(error.max_rel));
  BOOST_TEST(error.within_bound()); // 1e-17 is below 2u·(1 + 1)
  BOOST_TEST(!errors(problem.reference(), Matrix<double>(1, 1, 1e-15), strict<double>).within_bound());
}

BOOST_AUTO_TEST_SUITE_END()
