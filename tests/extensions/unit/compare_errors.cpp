/// Tests what a comparison reports besides "within the bound": norms, units of u, ULPs, the worst elements, NaN and
/// Inf.

#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include "compare_problem.hpp"

using namespace tessera;
using namespace tessera::test;
using Elements = std::tuple<float, double>;

namespace {

template <class T>
constexpr double unit = std::numeric_limits<T>::epsilon() / 2;

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

/// A product whose exact result is 2 everywhere: k ones times k numbers of which half cancel.
template <class T>
CompareProblem<T> twos(Index m, Index n) {
  Matrix<T> b(4, n);
  for (Index j = 0; j < n; ++j) {
    b(0, j) = b(1, j) = b(2, j) = 1;
    b(3, j) = -1;
  }
  return {Matrix<T>(m, 4, T{1}), std::move(b)};
}

} // namespace

BOOST_AUTO_TEST_SUITE(compare_errors)

BOOST_AUTO_TEST_CASE_TEMPLATE(distances_count_the_numbers_between, T, Elements) {
  const T one = 1;
  const T least = std::numeric_limits<T>::denorm_min();
  BOOST_TEST(ulp_distance(one, one) == 0u);
  BOOST_TEST(ulp_distance(T{0}, -T{0}) == 0u);
  BOOST_TEST(ulp_distance(one, std::nextafter(one, T{2})) == 1u);
  BOOST_TEST(ulp_distance(std::nextafter(one, T{0}), std::nextafter(one, T{2})) == 2u);
  BOOST_TEST(ulp_distance(-least, least) == 2u);
  BOOST_TEST(ulp_distance(-T{0}, least) == 1u);
  const std::uint64_t per_octave = std::uint64_t{1} << (std::numeric_limits<T>::digits - 1);
  BOOST_TEST(ulp_distance(one, T{2}) == per_octave);
  BOOST_TEST(ulp_distance(T{4}, T{-4}) == ulp_distance(T{-4}, T{4}));
  BOOST_TEST(ulp_distance(std::numeric_limits<T>::max(), infinity<T>) == 1u);
}

BOOST_AUTO_TEST_CASE(bins_are_powers_of_two) {
  for (const auto& [distance, bin] : {std::pair<std::uint64_t, std::size_t>{0, 0},
                                      {1, 1},
                                      {2, 2},
                                      {3, 3},
                                      {4, 3},
                                      {5, 4},
                                      {8, 4},
                                      {9, 5},
                                      {std::uint64_t{1} << 32, 33},
                                      {~std::uint64_t{0}, 65}}) {
    BOOST_TEST(UlpHistogram::bin_of(distance) == bin);
    BOOST_TEST(UlpHistogram::up_to(bin) >= static_cast<double>(distance));
    if (bin > 0) BOOST_TEST(UlpHistogram::up_to(bin - 1) < static_cast<double>(distance));
  }
  UlpHistogram ulps, more;
  ulps.add(3);
  more.add(4);
  more.add_infinite();
  ulps.add(more);
  BOOST_TEST(ulps.count(3) == 2);
  BOOST_TEST(ulps.infinite() == 1);
  BOOST_TEST(ulps.total() == 3);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(errors_are_measured_in_every_norm, T, Elements) {
  const CompareProblem<T> problem = twos<T>(3, 5);
  Matrix<T> c(3, 5, T{2});
  const T off = 16 * std::numeric_limits<T>::epsilon(); // 8 ULPs of 2, 32 u
  c(1, 2) += off;
  c(2, 4) -= 2 * off;
  const GemmError error = errors(problem.reference(), c, strict<T>);
  const double delta = std::sqrt(5.0) * static_cast<double>(off);
  const auto near = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(error.normwise == delta / (2 * std::sqrt(15.0)), near);
  BOOST_TEST(error.componentwise == 2 * static_cast<double>(off) / unit<T> / 4, near); // |A||B| = 4
  BOOST_TEST(error.row_column == 2 * static_cast<double>(off) / unit<T> / 4, near);    // ‖a‖‖b‖ = 2·2
  BOOST_TEST(error.norm_product == delta / unit<T> / (std::sqrt(12.0) * std::sqrt(20.0)), near);
  BOOST_TEST(error.ulps.total() == 15);
  BOOST_TEST(error.ulps.count(0) == 13);
  BOOST_TEST(error.ulps.count(UlpHistogram::bin_of(8)) == 1);
  BOOST_TEST(error.ulps.count(UlpHistogram::bin_of(32)) == 1); // below 2 there are twice as many numbers
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_worst_elements_are_named, T, Elements) {
  const CompareProblem<T> problem = twos<T>(40, 50);
  Matrix<T> c(40, 50, T{2});
  for (Index e = 1; e <= 20; ++e) c(2 * e - 1, e) += static_cast<T>(e);
  const GemmError error = errors(problem.reference(), c, strict<T>);
  BOOST_TEST_REQUIRE(error.worst.size() == worst_elements);
  for (std::size_t w = 0; w < worst_elements; ++w) {
    const Index e = 20 - static_cast<Index>(w);
    const WorstElement& element = error.worst[w];
    BOOST_TEST(element.row == 2 * e - 1);
    BOOST_TEST(element.col == e);
    BOOST_TEST(element.computed == 2.0 + static_cast<double>(e));
    BOOST_TEST(element.exact == 2.0);
    BOOST_TEST(element.bound > 0);
    BOOST_TEST(element.over_bound == static_cast<double>(e) / element.bound, boost::test_tools::tolerance(1e-12));
  }
  BOOST_TEST(error.worst_row == 39);
  BOOST_TEST(error.worst_col == 20);
  BOOST_TEST(error.max_over_bound == error.worst[0].over_bound);
  BOOST_TEST(errors(problem.reference(), Matrix<T>(40, 50, T{2}), strict<T>).worst.empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(nan_and_inf_are_counted_on_both_sides, T, Elements) {
  CompareProblem<T> problem = twos<T>(4, 6);
  problem.a(0, 0) = infinity<T>;
  problem.a(2, 1) = std::numeric_limits<T>::quiet_NaN();
  Matrix<T> c = problem.run("canonical");
  c(3, 3) = -infinity<T>;
  c(2, 5) = 7;
  const GemmError error = errors(problem.reference(), c, strict<T>);
  BOOST_TEST(error.expected.inf == 6);
  BOOST_TEST(error.expected.nan == 6);
  BOOST_TEST(error.found.inf == 7);
  BOOST_TEST(error.found.nan == 5);
  BOOST_TEST(error.misplaced == 2);
  BOOST_TEST(error.ulps.infinite() == 2);
  BOOST_TEST(error.ulps.count(0) == 22);
  BOOST_TEST(std::isinf(error.normwise));
  BOOST_TEST(std::isinf(error.componentwise));
  BOOST_TEST(error.worst.size() == 2u);
}

/// The product is so large that it is compared in several pieces.
BOOST_AUTO_TEST_CASE_TEMPLATE(threads_do_not_change_the_errors, T, Elements) {
  const CompareProblem<T> problem(300, 700, 20);
  const GemmReference reference = problem.reference();
  Matrix<T> c = problem.run("canonical");
  for (Index e = 0; e < 300; e += 7) c(e, 2 * e) *= T{1.5};
  const GemmError one = reference.compare(c.data(), c.ld(), strict<T>, 1);
  const GemmError three = reference.compare(c.data(), c.ld(), strict<T>, 3);
  BOOST_TEST(one.total_abs == three.total_abs);
  BOOST_TEST(one.mean_rel == three.mean_rel);
  BOOST_TEST(one.normwise == three.normwise);
  BOOST_TEST(one.norm_product == three.norm_product);
  BOOST_TEST(one.differing_bits == three.differing_bits);
  BOOST_TEST(one.ulps.total() == 210000);
  for (std::size_t bin = 0; bin < UlpHistogram::bins; ++bin) BOOST_TEST(one.ulps.count(bin) == three.ulps.count(bin));
  BOOST_TEST_REQUIRE(one.worst.size() == three.worst.size());
  for (std::size_t w = 0; w < one.worst.size(); ++w) {
    BOOST_TEST(one.worst[w].row == three.worst[w].row);
    BOOST_TEST(one.worst[w].col == three.worst[w].col);
  }
}

/// Norms of numbers whose squares overflow or vanish.
BOOST_AUTO_TEST_CASE(norms_do_not_overflow) {
  for (const double scale : {1e-140, 1e140}) {
    CompareProblem<double> problem(20, 20, 20);
    problem.a = scale * problem.a;
    problem.b = scale * problem.b;
    Matrix<double> c = problem.run("canonical");
    c(3, 4) *= 1.25;
    const GemmError error = errors(problem.reference(), c, strict<double>);
    BOOST_TEST(error.normwise > 1e-6);
    BOOST_TEST(error.normwise < 0.25);
    BOOST_TEST(error.componentwise > 1e10);
    BOOST_TEST(error.row_column > 1e10);
    BOOST_TEST(error.row_column <= error.componentwise);
    BOOST_TEST(error.norm_product <= error.row_column);
    BOOST_TEST(error.norm_product > 1e8);
  }
}

BOOST_AUTO_TEST_SUITE_END()
