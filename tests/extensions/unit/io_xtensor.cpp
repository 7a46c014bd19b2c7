/// Tests xtensor expressions and matrices.

#include <tessera/interop/xtensor.hpp>

#include <boost/test/unit_test.hpp>
#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>
#endif

#include <tessera/gemm.hpp>

#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::test;
using Elements = std::tuple<float, double>;

BOOST_AUTO_TEST_SUITE(io_xtensor)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_matrix_is_seen_without_a_copy, T, Elements) {
  Matrix<T> a = Matrix<T>::random(7, 5, Seed{1});
  auto view = as_xtensor(a);
  BOOST_TEST(view.shape()[0] == 7u);
  BOOST_TEST(view.shape()[1] == 5u);
  BOOST_TEST(&view(3, 2) == &a(3, 2));
  const T before = a.at(6, 4);
  const T padding = a.data()[5] = T{-7};
  view += T{1};
  BOOST_TEST(a.at(6, 4) == before + T{1});
  BOOST_TEST(std::as_const(a).data()[5] == padding); // what lies between the rows is not touched
  BOOST_TEST(static_cast<double>(xt::amax(xt::abs(as_xtensor(std::as_const(a))))()) == a.norm_max());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(views_are_seen_as_they_look, T, Elements) {
  Matrix<T> a = Matrix<T>::random(6, 9, Seed{1});
  const auto flipped = as_xtensor(std::as_const(a).transposed());
  const auto block = as_xtensor(a.block(1, 2, 3, 4));
  BOOST_TEST(flipped(8, 5) == a.at(5, 8));
  BOOST_TEST(block(2, 3) == a.at(3, 5));
  BOOST_TEST((from_xtensor(flipped) == a.transposed()));
  BOOST_TEST((from_xtensor(block) == a.block(1, 2, 3, 4)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(expressions_become_matrices, T, Elements) {
  BOOST_TEST((from_xtensor(xt::eye<T>(4) * T{2}) == T{2} * Matrix<T>::identity(4)));
  const xt::xarray<T, xt::layout_type::column_major> columns{{1, 2, 3}, {4, 5, 6}};
  BOOST_TEST((from_xtensor(columns) == Matrix<T>{{1, 2, 3}, {4, 5, 6}}));
  const xt::xarray<T> rows{{1, 2, 3}, {4, 5, 6}};
  BOOST_TEST((gemm(from_xtensor(rows), from_xtensor(xt::transpose(rows)), Backend::Reference) ==
              Matrix<T>{{14, 32}, {32, 77}}));
  BOOST_TEST(from_xtensor(xt::xarray<T>::from_shape({0, 3})).empty());
}

/// Assignment between matrices that are padded alike must not run over the padding.
BOOST_AUTO_TEST_CASE_TEMPLATE(padded_matrices_are_assigned_element_by_element, T, Elements) {
  const Matrix<T> a = Matrix<T>::random(5, 3, Seed{1});
  Matrix<T> b(5, 3);
  auto target = as_xtensor(b);
  xt::noalias(target) = as_xtensor(a) * T{2};
  BOOST_TEST((b == T{2} * a));
  Matrix<T> row(1, 3), column(5, 1);
  auto row_view = as_xtensor(row);
  xt::noalias(row_view) = xt::view(as_xtensor(a), xt::range(4, 5), xt::all());
  BOOST_TEST((row == a.block(4, 0, 1, 3)));
  auto column_view = as_xtensor(column);
  xt::noalias(column_view) = xt::view(as_xtensor(a), xt::all(), xt::range(2, 3));
  BOOST_TEST((column == a.block(0, 2, 5, 1)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(containers_are_multiplied_where_they_are, T, Elements) {
  xt::xarray<T> rows{{1, 2, 3}, {4, 5, 6}};
  const xt::xtensor<T, 2, xt::layout_type::column_major> columns{{1, 2, 3}, {4, 5, 6}};
  auto part = xt::view(rows, xt::all(), xt::range(1, 3));
  BOOST_TEST(&view_of(rows)(1, 2) == &rows(1, 2));
  BOOST_TEST(&view_of(columns)(1, 2) == &columns(1, 2));
  BOOST_TEST(&view_of(part)(1, 1) == &rows(1, 2));
  BOOST_TEST((gemm(columns, xt::transpose(rows), Backend::Reference) == Matrix<T>{{14, 32}, {32, 77}}));
  gemm(T{1}, Matrix<T>{{1, 1}, {0, 1}}, xt::xarray<T>(part), T{0}, part);
  BOOST_TEST((from_xtensor(rows) == Matrix<T>{{1, 7, 9}, {4, 5, 6}}));
  const auto sparse = xt::view(rows, xt::all(), xt::range(0, 3, 2));
  expect_error<InvalidArgument>([&] { view_of(sparse); }, {"xtensor matrix of 2×2", "2 from column to column"});
}

BOOST_AUTO_TEST_CASE(other_dimensions_than_two_are_refused) {
  expect_error<InvalidArgument>([] { from_xtensor(xt::xarray<float>{1, 2, 3}); }, {"1 dimensions", "two"});
  const xt::xarray<float> cube = xt::zeros<float>({2, 2, 2});
  expect_error<InvalidArgument>([&] { view_of(cube); }, {"3 dimensions", "two"});
}

BOOST_AUTO_TEST_SUITE_END()
