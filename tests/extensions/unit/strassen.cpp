/// Strassen's recursion on products that are large enough for it: its bound, its bits, and what it does with numbers
/// that its sums of blocks cannot hold. The conformance program tests one level, edges, transposes, alpha and beta.

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/checking/freivalds.hpp>

#include "compare_problem.hpp"
#include "support/every_test.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

boost::test_tools::assertion_result has_threads(boost::unit_test::test_unit_id) {
  for (const BackendInfo& info : available_backends())
    if (info.backend == Backend::OpenMP) return info.available;
  return false;
}

template <class T>
constexpr Arithmetic arithmetic{dtype_of<T>, Math::Strassen, Summation::Other, Accumulator::Native};

/// Returns the product that OpenMP's first kernel of this mode computes.
template <class T>
Matrix<T> computed(const CompareProblem<T>& problem, Math math, int threads = 2) {
  Matrix<T> result = problem.c;
  GemmCall call = problem.call(result);
  call.math = math;
  call.threads = threads;
  Executor& host = executor(Backend::OpenMP);
  throw_if_failed(host.gemm(host.default_queue(), call));
  return result;
}

template <class T>
Index differing(const Matrix<T>& x, const Matrix<T>& y) {
  Index count = 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (x(i, j) != y(i, j) && !(std::isnan(x(i, j)) && std::isnan(y(i, j)))) ++count;
  return count;
}

template <class T>
GemmError errors_of(const CompareProblem<T>& problem, const Matrix<T>& c) {
  Matrix<T> before = problem.c;
  return errors(GemmReference(problem.call(before), sample_rows(problem.m(), 40, 1)), c, arithmetic<T>);
}

using Types = std::tuple<float, double>;

} // namespace

BOOST_AUTO_TEST_SUITE(strassen, *boost::unit_test::precondition(has_threads))

BOOST_AUTO_TEST_CASE(levels_follow_from_the_smallest_size) {
  BOOST_TEST(strassen_levels(511, 5000, 5000) == 0);
  BOOST_TEST(strassen_levels(5000, 512, 5000) == 1);
  BOOST_TEST(strassen_levels(5000, 5000, 1023) == 1);
  BOOST_TEST(strassen_levels(1024, 1024, 1024) == 2);
  BOOST_TEST(strassen_levels(100000, 100000, 100000) == most_strassen_levels);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(several_levels_and_odd_sizes_keep_the_bound, T, Types) {
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{512, 512, 512}, {1030, 1027, 1029}, {517, 1300, 2063}})
    for (const Op op : {Op::None, Op::Transpose}) {
      if (sanitized && ((m == 512) == (op == Op::Transpose) || k > 2000)) continue;
      if (has_fewer_cases() && sizeof(T) > 4 && m > 512) continue; // f32 has both levels
      CompareProblem<T> problem = op == Op::None ? CompareProblem<T>(m, n, k) : CompareProblem<T>(k, k, m);
      if (op == Op::Transpose) problem = {Matrix<T>::random(k, m, Seed{1}), Matrix<T>::random(n, k, Seed{2})};
      problem.op_a = problem.op_b = op;
      problem.c = Matrix<T>::random(m, n, Seed{3});
      problem.alpha = op == Op::None ? 1 : 0.75;
      problem.beta = op == Op::None ? 0 : -0.5;
      const Matrix<T> c = computed(problem, Math::Strassen);
      const GemmError error = errors_of(problem, c);
      BOOST_TEST(error.within_bound(), m << "×" << n << "×" << k << ": " << error.max_over_bound);
      BOOST_TEST(error.max_over_bound > 1e-5); // the bound is not beyond all errors
      const bool fewer = has_fewer_cases();
      for (const int threads : {3, 1}) {
        BOOST_TEST(differing(c, computed(problem, Math::Strassen, threads)) == 0);
        if (fewer) break;
      }
      if (fewer) continue;
      BOOST_TEST(differing(c, computed(problem, Math::Strict)) > m * n / 10); // the recursion took place
    }
}

/// An element may be off by about the rounding errors of the largest terms, but not by a term.
BOOST_AUTO_TEST_CASE_TEMPLATE(planted_errors_break_the_bound, T, Types) {
  const CompareProblem<T> problem(512, 512, 512);
  Matrix<T> c = computed(problem, Math::Strassen);
  const GemmError right = errors_of(problem, c);
  BOOST_TEST_REQUIRE(right.within_bound());
  const double bound = right.worst.front().bound;
  BOOST_TEST(bound < (sizeof(T) == 4 ? 0.06 : 1e-10)); // beside elements of C of about 7, and terms up to 1
  Matrix<T> off = c;
  off(0, 100) += static_cast<T>(1.01 * bound + right.max_abs);
  BOOST_TEST(!errors_of(problem, off).within_bound());
  CompareProblem<T> shorter = problem; // loses the last term of every sum
  for (Index i = 0; i < 512; ++i) shorter.a(i, 511) = 0;
  off = computed(shorter, Math::Strassen);
  BOOST_TEST(!errors_of(problem, off).within_bound());
  Matrix<T> before = problem.c;
  const FreivaldsCheck freivalds(problem.call(before), 1);
  BOOST_TEST(freivalds.check(c.data(), c.ld(), arithmetic<T>).within_bound());
  for (Index j = 0; j < 512; ++j) c(7, j) += 1; // a whole row, beside w_i of 512 bounds
  BOOST_TEST((sizeof(T) == 4 || !freivalds.check(c.data(), c.ld(), arithmetic<T>).within_bound()));
}

BOOST_AUTO_TEST_CASE(whole_numbers_are_exact) {
  const Index m = has_fewer_cases() ? 513 : 1025;
  CompareProblem<float> problem(m, m + 1, m + 2);
  const auto round = [](Matrix<float>& x) {
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j) x(i, j) = std::nearbyint(4 * x(i, j));
  };
  round(problem.a);
  round(problem.b);
  BOOST_TEST(differing(computed(problem, Math::Strassen), computed(problem, Math::Strict)) == 0);
}

/// A sum of blocks with NaN, or one that overflows, would spread over C.
BOOST_AUTO_TEST_CASE_TEMPLATE(nan_inf_and_overflow_stay_where_they_belong, T, Types) {
  const auto same_as_strict = [](const CompareProblem<T>& problem) {
    return differing(computed(problem, Math::Strassen), computed(problem, Math::Strict)) == 0;
  };
  CompareProblem<T> problem(512, 513, 514);
  problem.beta = 0.5;
  problem.a(3, 5) = std::numeric_limits<T>::infinity();
  BOOST_TEST(same_as_strict(problem));
  problem.b(17, 300) = std::numeric_limits<T>::quiet_NaN();
  BOOST_TEST(same_as_strict(problem));
  CompareProblem<T> large(512, 512, 512);
  large.a(0, 0) = large.a(256, 256) = std::numeric_limits<T>::max() / 2 * T(1.5);
  BOOST_TEST(same_as_strict(large));
  Matrix<T> finite = computed(large, Math::Strassen);
  Index others = 0;
  for (Index i = 0; i < 512; ++i)
    for (Index j = 0; j < 512; ++j) others += std::isfinite(finite(i, j)) ? 0 : 1;
  BOOST_TEST(others == 0);
}

BOOST_AUTO_TEST_SUITE_END()
