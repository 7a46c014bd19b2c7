/// Tests the reference product: it is as exact as it says, and has the bits of the kernels gold and canonical.

#include <bit>
#include <cmath>

#include <boost/test/unit_test.hpp>

#include <tessera/random.hpp>
#include <tessera/status.hpp>

#include "compare_problem.hpp"
#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::test;
using Elements = std::tuple<float, double>;

BOOST_AUTO_TEST_SUITE(compare_reference)

/// Two implementations that share no code agree bit for bit.
BOOST_AUTO_TEST_CASE_TEMPLATE(gold_and_canonical_have_the_bits_of_their_rungs, T, Elements) {
  for (const auto& [m, n, k] : {std::array<Index, 3>{1, 1, 1}, {3, 5, 7}, {17, 300, 65}, {33, 257, 2300}})
    for (const double beta : {0.0, 0.75}) {
      CompareProblem<T> problem(m, n, k);
      problem.alpha = -1.25;
      problem.beta = beta;
      const GemmReference reference = problem.reference(2);
      const GemmError gold =
          errors(reference, problem.run("gold"), {dtype_of<T>, Math::Strict, Summation::Other, Accumulator::Wider});
      BOOST_TEST(gold.total_abs == 0);
      BOOST_TEST(gold.max_over_bound <= 1);
      const GemmError canonical = errors(reference, problem.run("canonical"), strict<T>);
      BOOST_TEST(canonical.differing_bits == 0);
      BOOST_TEST(canonical.within_bound());
      BOOST_TEST(canonical.rows_compared == m);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(transposes_are_read_as_such, T, Elements) {
  for (const Op op_a : {Op::None, Op::Transpose})
    for (const Op op_b : {Op::None, Op::Transpose}) {
      CompareProblem<T> problem(40, 40, 40);
      problem.op_a = op_a;
      problem.op_b = op_b;
      BOOST_TEST(errors(problem.reference(), problem.run("canonical"), strict<T>).differing_bits == 0);
    }
}

/// The elements are 30-bit integers scaled by a power of two, so that the sum of their products is exact in 128 bits.
BOOST_AUTO_TEST_CASE(f64_is_accurate_to_twice_the_precision) {
  __extension__ using Wide = __int128;
  constexpr Index k = 1000;
  Matrix<double> a(1, k), b(k, 1);
  Wide sum = 0;
  for (Index p = 0; p < k; ++p) {
    const auto x =
        static_cast<std::int64_t>(philox4x32(1, static_cast<std::uint64_t>(p)).word[0]) * 1048573 - (1LL << 51);
    const auto y =
        static_cast<std::int64_t>(philox4x32(2, static_cast<std::uint64_t>(p)).word[0]) * 1048571 - (1LL << 51);
    a(0, p) = static_cast<double>(x);
    b(p, 0) = static_cast<double>(y);
    sum += static_cast<Wide>(x) * y;
  }
  const CompareProblem<double> problem(std::move(a), std::move(b));
  const double gold = *static_cast<const double*>(problem.reference().gold(0));
  BOOST_TEST(gold == static_cast<double>(sum)); // rounded once: the nearest double
}

BOOST_AUTO_TEST_CASE_TEMPLATE(sums_of_small_whole_numbers_have_no_error, T, Elements) {
  CompareProblem<T> problem(Matrix<T>::random(20, 500, Seed{1}, Distribution::Integers, -9, 9),
                            Matrix<T>::random(500, 30, Seed{2}, Distribution::Integers, -9, 9));
  const GemmError error = errors(problem.reference(), problem.run("canonical"), strict<T>);
  BOOST_TEST(error.total_abs == 0);
  BOOST_TEST(error.max_rel == 0);
  BOOST_TEST(error.max_over_bound == 0);
  BOOST_TEST(error.worst_row == -1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_wrong_element_is_found, T, Elements) {
  CompareProblem<T> problem(31, 29, 64);
  Matrix<T> c = problem.run("canonical");
  c(17, 23) += T{1};
  const GemmError error = errors(problem.reference(), c, strict<T>);
  BOOST_TEST(!error.within_bound());
  BOOST_TEST(error.worst_row == 17);
  BOOST_TEST(error.worst_col == 23);
  BOOST_TEST(error.differing_bits == 1);
  BOOST_TEST(error.max_abs == 1.0, boost::test_tools::tolerance(1e-4));
  BOOST_TEST(error.total_abs >= 1 - 1e-4);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_transposed_result_is_wrong, T, Elements) {
  CompareProblem<T> problem(24, 24, 24);
  const Matrix<T> c = transpose(problem.run("canonical"));
  BOOST_TEST(!errors(problem.reference(), c, strict<T>).within_bound());
}

BOOST_AUTO_TEST_CASE(nothing_is_read_where_alpha_is_zero) {
  CompareProblem<float> problem(4, 5, 6);
  problem.a.fill(NAN);
  problem.alpha = 0;
  problem.beta = 2;
  Matrix<float> c = 2.0f * problem.c;
  const GemmError error = errors(problem.reference(), c, strict<float>);
  BOOST_TEST(error.total_abs == 0);
  BOOST_TEST(error.within_bound());
}

BOOST_AUTO_TEST_CASE(sampled_rows_are_the_only_ones_read) {
  CompareProblem<float> problem(100, 8, 16);
  Matrix<float> before = problem.c;
  const GemmReference reference(problem.call(before), std::vector<Index>{0, 41, 99}, 1);
  Matrix<float> c = problem.run("canonical");
  for (Index i = 0; i < 100; ++i)
    if (i != 0 && i != 41 && i != 99) c(i, 0) = NAN;
  GemmError error = errors(reference, c, strict<float>);
  BOOST_TEST(error.within_bound());
  BOOST_TEST(error.rows == 100);
  BOOST_TEST(error.rows_compared == 3);
  c(41, 3) = 100;
  error = errors(reference, c, strict<float>);
  BOOST_TEST(!error.within_bound());
  BOOST_TEST(error.worst_row == 41);
}

BOOST_AUTO_TEST_CASE(samples_are_ascending_and_hold_both_ends) {
  for (const auto& [m, count] : {std::pair<Index, Index>{10, 3}, {10, 10}, {10, 99}, {1, 1}, {1000003, 17}}) {
    const std::vector<Index> rows = sample_rows(m, count, 5);
    BOOST_TEST(static_cast<Index>(rows.size()) == std::min(m, count));
    BOOST_TEST(rows.front() == 0);
    BOOST_TEST(rows.back() == m - 1);
    for (std::size_t r = 1; r < rows.size(); ++r) BOOST_TEST(rows[r] > rows[r - 1]);
  }
  BOOST_TEST(sample_rows(0, 5, 1).empty());
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  CompareProblem<float> problem(4, 4, 4);
  Matrix<float> c = problem.c;
  GemmCall call = problem.call(c);
  expect_error<InvalidArgument>([&] { GemmReference(call, std::vector<Index>{4}, 1); }, {"row 4", "4 rows"});
  expect_error<InvalidArgument>([&] { GemmReference(call, std::vector<Index>{2, 1}, 1); }, {"row 1"});
  call.lda = 3;
  expect_error<InvalidArgument>([&] { GemmReference(call, 1); }, {"lda = 3", "4"});
  expect_error<InvalidArgument>([&] { errors(problem.reference(), c, strict<double>); }, {"f32", "f64"});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(reductions_have_a_reference_too, T, Elements) {
  const Matrix<T> x = Matrix<T>::random(1, 5000, Seed{3});
  const ReduceReference reference =
      reduce_reference({ReduceOp::SumOfSquares, dtype_of<T>, 1, 5000, x.data(), x.ld(), 0});
  BOOST_TEST(std::abs(x.sum_of_squares() - reference.value) <= reference.bound);
  BOOST_TEST(reference.bound < 1e-11 * reference.value);
  const ReduceReference largest = reduce_reference({ReduceOp::MaxAbs, dtype_of<T>, 1, 5000, x.data(), x.ld(), 0});
  BOOST_TEST(largest.value == x.norm_max());
}

BOOST_AUTO_TEST_SUITE_END()
