/// std::span with a shape.

#include <tessera/interop/span.hpp>

#include <array>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::test;

BOOST_AUTO_TEST_SUITE(adapt_span)

BOOST_AUTO_TEST_CASE(elements_are_seen_where_they_are) {
  std::vector<float> x{0, 1, 2, 3, 4, 5, 6};
  const auto view = view_of(std::span(x), 2, 3, 4);
  BOOST_TEST(&view(1, 2) == &x[6]);
  const auto columns = view_of(std::span(std::as_const(x)).first(6), 3, 2).transposed();
  BOOST_TEST(&columns(1, 2) == &x[5]);
  static_assert(std::is_same_v<decltype(columns), const MatrixView<const float>>);
  std::array<double, 4> fixed{1, 2, 3, 4};
  BOOST_TEST(&view_of(std::span(fixed), 2, 2)(1, 0) == &fixed[2]);
  BOOST_TEST((from_span(std::span(x), 2, 3, 4) == Matrix<float>{{0, 1, 2}, {4, 5, 6}}));
  BOOST_TEST(view_of(std::span<float>(), 0, 3).rows() == 0);
}

BOOST_AUTO_TEST_CASE(products_read_and_write_in_place) {
  const std::vector<float> x{1, 2, 3, 4, 5, 6}, y{1, 0, 0, 1, 1, 1};
  std::vector<float> z(6, 9);
  gemm(1.0f, view_of(std::span(x), 2, 3), view_of(std::span(y), 3, 2), 0.0f, view_of(std::span(z), 2, 2, 3));
  BOOST_TEST(z == (std::vector<float>{4, 5, 9, 10, 11, 9}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(spans_that_are_too_short_are_refused) {
  std::vector<float> x(11);
  static_cast<void>(view_of(std::span(x), 3, 3, 4));
  expect_error<InvalidArgument>([&] { view_of(std::span(x), 3, 4); }, {"11 elements", "3×4", "ld = 4"});
  expect_error<InvalidArgument>([&] { view_of(std::span(x), 3, 3, 5); }, {"ld = 5"});
  expect_error<InvalidArgument>([&] { view_of(std::span(x), 3, 4, 3); }, {"ld = 3", "4 columns"});
  expect_error<InvalidArgument>([&] { view_of(std::span(x), -1, 4); }, {"-1×4"});
  constexpr Index huge = std::numeric_limits<Index>::max();
  expect_error<InvalidArgument>([&] { view_of(std::span(x), huge, huge); }, {"11 elements"});
  expect_error<InvalidArgument>([&] { view_of(std::span(x), huge, 2, huge); }, {"11 elements"});
}

BOOST_AUTO_TEST_CASE(a_matrix_is_seen_without_a_copy) {
  Matrix<float> a{{1, 2, 3}, {4, 5, 6}};
  const std::span<float> all = as_span(a);
  BOOST_TEST(&all[0] == a.data());
  BOOST_TEST(all.size() == static_cast<std::size_t>(a.ld() + 3));
  BOOST_TEST(all[static_cast<std::size_t>(a.ld() + 1)] == 5);
  BOOST_TEST((view_of(all, 2, 3, a.ld()) == a));
  Matrix<float> nothing;
  BOOST_TEST(as_span(nothing).empty());
}

BOOST_AUTO_TEST_SUITE_END()
