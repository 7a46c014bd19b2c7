/// Wrong solutions of the lessons on factors, and the matrices that these are tried on.

#include <cmath>

#include <boost/test/unit_test.hpp>

#include "factors/problem.hpp"
#include "wrong_solutions.hpp"

namespace tessera::lessons::testing {

BOOST_AUTO_TEST_SUITE(wrong_factors)

/// The factors that a problem asks for give its matrix, and pivots are the largest of their columns.
BOOST_AUTO_TEST_CASE(the_matrices_are_products_of_their_factors) {
  for (const Index n : {1, 2, 7, 64, 150}) {
    const FactorProblem positive = make_problem(Work::Cholesky, n, false), general = make_problem(Work::Lu, n, false);
    std::vector<double> permuted = general.a;
    for (Index j = 0; j < n; ++j) {
      const auto pivot = static_cast<Index>(general.pivots[static_cast<std::size_t>(j)]);
      if (pivot != j)
        std::swap_ranges(permuted.begin() + j * n, permuted.begin() + (j + 1) * n, permuted.begin() + pivot * n);
    }
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        double square = 0, product = i <= j ? general.wanted(i, j) : 0;
        for (Index k = 0; k <= std::min(i, j); ++k) square += positive.wanted(i, k) * positive.wanted(j, k);
        for (Index k = 0; k < std::min(i, j + 1); ++k) product += general.wanted(i, k) * general.wanted(k, j);
        if (j <= i) BOOST_TEST(square == positive.before(i, j));
        BOOST_TEST(product == permuted[static_cast<std::size_t>(i * n + j)]);
        if (j < i) BOOST_TEST(std::abs(general.wanted(i, j)) <= 0.5);
      }
  }
}

BOOST_AUTO_TEST_CASE(no_root) {
  expect({"the diagonal has no root",
          "fac-03",
          {{"T(std::sqrt(std::real(sum)))", "sum"}},
          Mistake::NoRoot,
          {"L(0, 0) has no root", "one element (n = 1)", "is the root of its sum"}});
}

BOOST_AUTO_TEST_CASE(no_division) {
  expect({"an element is not divided",
          "fac-03",
          {{"sum / std::real(a[j * ld + j])", "sum"}},
          Mistake::NotDivided,
          {"L(1, 0) is not divided by the diagonal", "two rows"}});
}

BOOST_AUTO_TEST_CASE(nothing_is_subtracted) {
  expect({"nothing is subtracted",
          "fac-03",
          {{"k < j; ++k", "k < 0; ++k"}},
          Mistake::NothingSubtracted,
          {"L(1, 1) has nothing subtracted", "L(i, k) times L(j, k)"}});
}

BOOST_AUTO_TEST_CASE(above_the_diagonal) {
  expect({"rows begin at the first one",
          "fac-03",
          {{"for (Index i = j; i < m", "for (Index i = 0; i < m"}},
          Mistake::OtherTriangle,
          {"A(0, 64) above the diagonal has changed", "begins at the diagonal"}});
}

BOOST_AUTO_TEST_CASE(square_alone) {
  expect({"rows below the square are left out",
          "fac-03",
          {{"for (Index i = j; i < m", "for (Index i = j; i < width"}},
          Mistake::AsItWas,
          {"L(75, 0) is as it was", "half of the columns (n = 150)"}});
}

BOOST_AUTO_TEST_CASE(blocks_without_their_product) {
  expect({"a block does not look left",
          "fac-04",
          {{"subtract_product(n - j, width, j, a + j * n, n, rows.data(), width, a + j * n + j, n);", ""}},
          Mistake::NothingSubtracted,
          {"L(64, 64) has nothing subtracted", "two whole blocks", "over all j columns left of it"}});
}

BOOST_AUTO_TEST_CASE(first_block_alone) {
  expect({"the loop over blocks ends after the first one",
          "fac-04",
          {{"j < n; j += block", "j < 1; j += block"}},
          Mistake::AsItWas,
          {"L(64, 64) is as it was", "go on with the block after them"}});
}

BOOST_AUTO_TEST_CASE(products_beyond_the_diagonal) {
  expect({"the product goes to the last column",
          "fac-05",
          {{"subtract_product(1, i + 1 - end, width", "subtract_product(1, n - end, width"}},
          Mistake::OtherTriangle,
          {"A(64, 128) above the diagonal has changed", "as far as column i"}});
}

BOOST_AUTO_TEST_CASE(right_without_a_product) {
  const Lesson& lesson = lesson_named("fac-05");
  const Report report =
      report_of(lesson, with_mistake(lesson, {{"j < n; j += block", "j < n; j = n"}, {"std::min(block, n - j)", "n"}}));
  BOOST_TEST(report.finding.none());
  BOOST_TEST(!report.passed); // loops make everything
  BOOST_TEST(to_text(lesson, report).find("the count is worse than that of") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_largest_number) {
  expect({"the largest element, not the largest magnitude",
          "fac-06",
          {{"size(a[i * n + j]) > size(a[pivot * n + j])", "a[i * n + j] > a[pivot * n + j]"},
           {"template void lu_unblocked(Index, Index, Index, std::complex<float>*, Index*);", ""},
           {"template void lu_unblocked(Index, Index, Index, std::complex<double>*, Index*);", ""}},
          Mistake::WrongPivot,
          {"has the largest element of column", "|a(i, j)|"}});
}

BOOST_AUTO_TEST_CASE(rows_change_places_in_part) {
  expect({"the columns before stay where they are",
          "fac-06",
          {{"std::swap_ranges(a + j * n, a + (j + 1) * n, a + pivot * n)",
            "std::swap_ranges(a + j * n + j, a + (j + 1) * n, a + pivot * n + j)"}},
          Mistake::RowsApart,
          {"belongs to another row", "All n elements"}});
}

BOOST_AUTO_TEST_CASE(beyond_the_panel) {
  expect({"columns right of the panel are changed, too",
          "fac-06",
          {{"k < first + width; ++k", "k < n; ++k"}},
          Mistake::Elsewhere,
          {"half of the columns (n = 150)", "U("}});
}

BOOST_AUTO_TEST_CASE(rest_without_its_product) {
  expect({"the rest is not subtracted from",
          "fac-07",
          {{"subtract_product(n - end, n - end, width, a + end * n + j, n, a + j * n + end, n, a + end * n + end, n);",
            ""}},
          Mistake::WrongPivot,
          {"pivots[64]", "two whole blocks", "Where the first block's pivots are right"}});
}

BOOST_AUTO_TEST_CASE(what_ends_the_program) {
  expect({"it ends in the middle",
          "fac-07",
          {{"const Index width", "__builtin_trap(); const Index width"}},
          Mistake::Ended,
          {"the kernel crashes"}});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lessons::testing
