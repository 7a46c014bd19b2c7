#include <memory>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;

namespace {

/// Element (i, j) is 10·i + j.
Matrix<float> numbered(Index rows, Index cols) {
  Matrix<float> a(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) a(i, j) = static_cast<float>(10 * i + j);
  return a;
}

} // namespace

BOOST_AUTO_TEST_SUITE(views)

BOOST_AUTO_TEST_CASE(a_transposed_view_swaps_indices) {
  const Matrix<float> a = numbered(3, 4);
  const auto t = a.transposed();
  BOOST_TEST(t.rows() == 4);
  BOOST_TEST(t.cols() == 3);
  BOOST_TEST(t(3, 1) == 13.0f);
  BOOST_TEST(t.transposed()(1, 3) == 13.0f);
  BOOST_TEST((transpose(t) == a));
}

BOOST_AUTO_TEST_CASE(a_block_shows_a_part_also_of_a_block_and_of_a_transpose) {
  const Matrix<float> a = numbered(6, 7);
  const auto b = a.block(1, 2, 4, 3);
  BOOST_TEST(b.rows() == 4);
  BOOST_TEST(b.cols() == 3);
  BOOST_TEST(b(0, 0) == 12.0f);
  BOOST_TEST(b.block(2, 1, 2, 2)(1, 1) == 44.0f);
  const auto t = a.transposed().block(2, 1, 3, 4); // the transpose of b
  BOOST_TEST(t.rows() == 3);
  BOOST_TEST(t(2, 3) == b(3, 2));
  BOOST_TEST((t.transposed() == b));
  BOOST_TEST(a.block(6, 7, 0, 0).rows() == 0);
}

BOOST_AUTO_TEST_CASE(a_block_outside_is_refused) {
  const Matrix<float> a = numbered(6, 7);
  expect_error<InvalidArgument>([&] { static_cast<void>(a.block(3, 0, 4, 2)); }, {"block of 4×2 at (3, 0)", "6×7"});
  expect_error<InvalidArgument>([&] { static_cast<void>(a.block(0, -1, 1, 1)); }, {"(0, -1)"});
  expect_error<InvalidArgument>([&] { static_cast<void>(a.transposed().block(0, 0, 7, 7)); }, {"7×7", "7×6"});
  constexpr Index huge = Index{1} << 62;
  expect_error<InvalidArgument>([&] { static_cast<void>(a.block(huge, 0, huge, 1)); }, {"does not fit"});
}

BOOST_AUTO_TEST_CASE(writing_through_a_view_writes_the_matrix) {
  Matrix<float> a = numbered(4, 4);
  a.block(1, 1, 2, 2)(0, 1) = 99;
  BOOST_TEST(a.at(1, 2) == 99.0f);
  a.transposed()(0, 3) = 77;
  BOOST_TEST(a.at(3, 0) == 77.0f);
  a.block(0, 0, 2, 2).assign(Matrix<float>(2, 2, 5.0f).view());
  BOOST_TEST(a.at(1, 1) == 5.0f);
  BOOST_TEST(a.at(2, 2) == 22.0f);
  expect_error<InvalidArgument>([&] { a.block(0, 0, 2, 2).assign(Matrix<float>(2, 3).view()); }, {"2×3", "2×2"});
}

BOOST_AUTO_TEST_CASE(assigning_overlapping_views_reads_the_old_elements) {
  Matrix<float> a = numbered(4, 4);
  const Matrix<float> old = a;
  a.block(1, 1, 3, 3).assign(std::as_const(a).block(0, 0, 3, 3));
  BOOST_TEST((a.block(1, 1, 3, 3) == old.block(0, 0, 3, 3)));
  BOOST_TEST(a.at(0, 3) == old(0, 3));
  Matrix<float> b = old;
  b.writable().assign(std::as_const(b).transposed());
  BOOST_TEST((b == old.transposed()));
}

BOOST_AUTO_TEST_CASE(a_view_keeps_its_matrix_alive) {
  auto matrix = std::make_unique<Matrix<float>>(numbered(2, 2));
  const MatrixView<const float> view = matrix->view();
  matrix.reset();
  BOOST_TEST(view(1, 1) == 11.0f);
}

BOOST_AUTO_TEST_CASE(a_wrapped_view_reads_and_writes_the_callers_memory) {
  std::vector<float> memory{1, 2, -1, 3, 4, -1};
  const auto view = MatrixView<float>::wrap(memory.data(), 2, 2, 3);
  BOOST_TEST(view(1, 0) == 3.0f);
  gemm(1.0f, Matrix<float>{{1, 0}, {0, 2}}, Matrix<float>{{5, 6}, {7, 8}}, 1.0f, view);
  BOOST_TEST(memory == (std::vector<float>{6, 8, -1, 17, 20, -1}), boost::test_tools::per_element());
  expect_error<InvalidArgument>([&] { static_cast<void>(MatrixView<float>::wrap(memory.data(), 2, 4, 3)); },
                                {"ld = 3", "4 columns"});
  expect_error<InvalidArgument>([] { static_cast<void>(MatrixView<float>::wrap(nullptr, 2, 2, 2)); }, {"null", "2×2"});
}

BOOST_AUTO_TEST_SUITE_END()
