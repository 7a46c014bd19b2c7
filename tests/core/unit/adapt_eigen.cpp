/// Eigen's matrices as operands and results, without copies of their elements. The test is small, because Eigen
/// compiles slowly.

#include <tessera/interop/eigen.hpp>

#include <boost/test/unit_test.hpp>

#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

using Columns = Eigen::MatrixXd; // column-major
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using EveryOther = Eigen::Map<const Columns, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

Columns numbered_columns(Index rows, Index cols) {
  Columns x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = static_cast<double>(10 * i + j);
  return x;
}

/// Checks that the view shows x's elements themselves, each in its place.
template <class X>
void seen_in_place(X& x) {
  const auto view = view_of(x);
  BOOST_TEST_REQUIRE(view.rows() == x.rows());
  BOOST_TEST_REQUIRE(view.cols() == x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) BOOST_TEST(&view(i, j) == x.data() + i * x.rowStride() + j * x.colStride());
}

template <class X>
concept Viewable = requires(X&& x) {
  view_of(std::forward<X>(x));
};
static_assert(Viewable<Columns&> && Viewable<Eigen::Map<Columns>>);
static_assert(!Viewable<Columns>, "a view of a temporary would outlive its elements");
static_assert(!Viewable<Eigen::MatrixXi&>);

} // namespace

BOOST_AUTO_TEST_SUITE(adapt_eigen)

BOOST_AUTO_TEST_CASE(elements_are_seen_where_they_are) {
  Columns x = numbered_columns(5, 4);
  Rows y = x;
  const Columns& constant = x;
  const Eigen::Ref<const Columns> ref(x);
  auto block = x.block(1, 1, 3, 2);
  auto flipped = y.transpose();
  auto row = x.row(2);
  auto column = y.col(3);
  seen_in_place(x);
  seen_in_place(y);
  seen_in_place(constant);
  seen_in_place(ref);
  seen_in_place(block);
  seen_in_place(flipped);
  seen_in_place(row);
  seen_in_place(column);
  BOOST_TEST(view_of(x)(4, 3) == 43);
  static_assert(std::is_same_v<decltype(view_of(constant)), MatrixView<const double>>);
}

BOOST_AUTO_TEST_CASE(steps_that_gemm_cannot_take_are_named) {
  const Columns x = numbered_columns(6, 5);
  const EveryOther sparse(x.data(), 3, 5, {6, 2});
  expect_error<InvalidArgument>([&] { view_of(sparse); }, {"eigen matrix of 3×5", "2 elements from row to row",
                                                           "6 from column to column", "from_eigen"});
  expect_error<InvalidArgument>([&] { gemm(sparse, x); }, {"3×5", "2 elements"});
  const auto reversed = x.colwise().reverse();
  static_assert(!Viewable<decltype(reversed)&>);
  BOOST_TEST((from_eigen(sparse).block(1, 0, 2, 5) == from_eigen(sparse.bottomRows(2))));
  BOOST_TEST(from_eigen(reversed).at(0, 3) == 53);
  BOOST_TEST(from_eigen(x * 2).at(5, 4) == 108);
}

BOOST_AUTO_TEST_CASE(products_read_and_write_in_place) {
  const Columns x = numbered_columns(3, 4);
  const Rows y = numbered_columns(4, 2);
  const Columns expected = x * y;
  const Matrix c = gemm(x, y, Backend::Reference);
  BOOST_TEST((as_eigen(c) == expected));
  BOOST_TEST((as_eigen(c.transposed()) == expected.transpose()));
  BOOST_TEST(as_eigen(c).data() == c.data());
  Columns z = Columns::Constant(5, 2, 1);
  const double* before = z.data();
  gemm(1.0, x, view_of(y), 1.0, z.bottomRows(3), {.backend = Backend::Reference});
  BOOST_TEST(z.data() == before);
  BOOST_TEST((z.bottomRows(3) == expected + Columns::Ones(3, 2)));
  BOOST_TEST((z.topRows(2) == Columns::Ones(2, 2)));
  Matrix d = from_eigen(z);
  as_eigen(d).setZero();
  gemm(1.0, x, y, 0.0, d.block(2, 0, 3, 2));
  BOOST_TEST(d.at(4, 1) == expected(2, 1));
  expect_error<InvalidArgument>([&] { gemm(1.0, x, y, 0.0, Columns(x)); }, {"c is 3×4", "3×2"});
}

BOOST_AUTO_TEST_CASE(errors_name_the_operand_that_was_passed) {
  Columns x = numbered_columns(20, 20);
  const Columns a = Columns::Ones(6, 4), b = Columns::Ones(4, 8);
  Rows y = x;
  for (const Backend backend : {Backend::Auto, Backend::Reference}) {
    expect_error<InvalidArgument>(
        [&] { gemm(1.0, x.block(0, 0, 6, 4), b, 0.0, x.block(3, 3, 6, 8), {.backend = backend}); },
        {"c overlaps a", "c is 6×8", "a is 6×4"});
    expect_error<InvalidArgument>(
        [&] { gemm(1.0, a, x.block(0, 0, 4, 8), 0.0, x.block(3, 3, 6, 8), {.backend = backend}); },
        {"c overlaps b", "c is 6×8", "b is 4×8"});
    expect_error<InvalidArgument>(
        [&] { gemm(1.0, y.block(0, 0, 6, 4), b, 0.0, y.block(3, 3, 6, 8), {.backend = backend}); },
        {"c overlaps a", "c is 6×8", "a is 6×4"});
  }
  BOOST_TEST((x == numbered_columns(20, 20)));
}

BOOST_AUTO_TEST_SUITE_END()
