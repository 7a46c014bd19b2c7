#include <tessera/matrix.hpp>

#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/status.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;
using Elements = std::tuple<float, double>;

BOOST_AUTO_TEST_SUITE(matrix)

BOOST_AUTO_TEST_CASE_TEMPLATE(constructors, T, Elements) {
  const Matrix<T> none;
  BOOST_TEST(none.rows() == 0);
  BOOST_TEST(none.cols() == 0);
  BOOST_TEST(none.empty());
  BOOST_TEST(none.data() == nullptr);

  const Matrix<T> zeros(2, 3);
  const Matrix<T> sevens(2, 3, T{7});
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 3; ++j) {
      BOOST_TEST(zeros(i, j) == T{0});
      BOOST_TEST(sevens(i, j) == T{7});
    }

  const Matrix<T> listed{{1, 2, 3}, {4, 5, 6}};
  BOOST_TEST(listed.rows() == 2);
  BOOST_TEST(listed.cols() == 3);
  BOOST_TEST(listed.size() == 6);
  BOOST_TEST(listed(1, 0) == T{4});

  const Matrix deduced{{T{1}, T{2}}, {T{3}, T{4}}};
  static_assert(std::same_as<decltype(deduced), const Matrix<T>>);
  BOOST_TEST(deduced(1, 0) == T{3});

  const auto unit = Matrix<T>::identity(3);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) BOOST_TEST(unit(i, j) == (i == j ? T{1} : T{0}));
}

BOOST_AUTO_TEST_CASE(sizes_that_make_no_matrix_are_refused) {
  expect_error<InvalidArgument>([] { Matrix<float>(-1, 4); }, {"negative", "-1×4"});
  expect_error<InvalidArgument>([] { Matrix<float>(4, -1); }, {"negative", "4×-1"});
  expect_error<InvalidArgument>([] { (Matrix<float>{{1, 2}, {3}}); }, {"row 1 has 1 elements", "row 0 has 2"});
  constexpr Index huge = std::numeric_limits<Index>::max();
  expect_error<InvalidArgument>([] { Matrix<float>(huge, huge); }, {"overflows"});
  expect_error<InvalidArgument>([] { Matrix<float>(1, huge); }, {"overflows"});
  expect_error<InvalidArgument>([] { Matrix<double>(Index{1} << 40, Index{1} << 40); }, {"overflows", "f64"});
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_there_throws) {
  expect_error<OutOfMemory>([] { Matrix<double>(Index{1} << 30, Index{1} << 24); },
                            {"1073741824×16777216", "144115188075855872 bytes"});
}

BOOST_AUTO_TEST_CASE(matrices_without_elements) {
  const Matrix<float> flat(0, 5);
  const Matrix<float> thin(5, 0);
  BOOST_TEST(flat.empty());
  BOOST_TEST(thin.empty());
  BOOST_TEST(flat.cols() == 5);
  BOOST_TEST(thin.rows() == 5);
  BOOST_TEST(thin.ld() >= 1);
  BOOST_TEST(Matrix<float>(flat).cols() == 5);
  BOOST_TEST(thin.norm_frobenius() == 0.0);
  BOOST_TEST(flat.norm_one() == 0.0);
}

BOOST_AUTO_TEST_CASE(rows_start_on_cache_lines) {
  const Matrix<float> a(3, 17);
  BOOST_TEST(a.ld() == 32);
  for (Index i = 0; i < 3; ++i) BOOST_TEST(reinterpret_cast<std::uintptr_t>(a.row(i).data()) % 64 == 0u);
  BOOST_TEST(a.row(1).size() == 17u);
  BOOST_TEST(Matrix<double>(3, 17).ld() == 24);
}

BOOST_AUTO_TEST_CASE(checked_access) {
  Matrix<float> a(2, 3, 1.0f);
  a(1, 2) = 5;
  BOOST_TEST(a.at(1, 2) == 5.0f);
  for (const auto& [i, j] : std::vector<std::pair<Index, Index>>{{2, 0}, {0, 3}, {-1, 0}, {0, -1}}) {
    const std::string element = "element (" + std::to_string(i) + ", " + std::to_string(j) + ")";
    expect_error<InvalidArgument>([&a, row = i, col = j] { static_cast<void>(a.at(row, col)); }, {element, "2×3"});
  }
}

BOOST_AUTO_TEST_CASE(copies_are_independent) {
  Matrix<float> a{{1, 2}, {3, 4}};
  Matrix<float> b = a;
  b(0, 0) = 9;
  BOOST_TEST(a.at(0, 0) == 1.0f);
  a = b;
  b(0, 0) = 7;
  BOOST_TEST(a.at(0, 0) == 9.0f);
  const Matrix<float>& same = a;
  a = same;
  BOOST_TEST(a.at(0, 0) == 9.0f);
}

BOOST_AUTO_TEST_CASE(moves_keep_the_elements_where_they_are) {
  static_assert(std::is_nothrow_move_constructible_v<Matrix<float>>);
  static_assert(std::is_nothrow_move_assignable_v<Matrix<float>>);
  Matrix<float> a{{1, 2}, {3, 4}};
  const float* elements = std::as_const(a).data();
  Matrix<float> b = std::move(a);
  BOOST_TEST(std::as_const(b).data() == elements);
  BOOST_TEST(a.empty()); // NOLINT(bugprone-use-after-move): this is what is promised
  BOOST_TEST((a == Matrix<float>(0, 0)));
  a = std::move(b);
  BOOST_TEST(std::as_const(a).data() == elements);
  BOOST_TEST(b.rows() == 0); // NOLINT(bugprone-use-after-move)
  b = Matrix<float>(1, 1, 5.0f);
  BOOST_TEST(b.at(0, 0) == 5.0f);

  std::vector<Matrix<float>> many;
  many.push_back(std::move(a));
  for (int i = 0; i < 10; ++i) many.emplace_back(1, 1);
  BOOST_TEST(std::as_const(many)[0].data() == elements);
}

BOOST_AUTO_TEST_CASE(equality_is_of_shapes_and_elements) {
  const Matrix<double> a{{1, 2}, {3, 4}};
  BOOST_TEST((a == Matrix<double>{{1, 2}, {3, 4}}));
  BOOST_TEST(!(a == Matrix<double>{{1, 2}, {3, 5}}));
  BOOST_TEST(!(a == Matrix<double>{{1, 2, 0}, {3, 4, 0}}));
  BOOST_TEST((a.transposed() == Matrix<double>{{1, 3}, {2, 4}}));
  const Matrix<double> nan{{std::numeric_limits<double>::quiet_NaN()}};
  BOOST_TEST(!(nan == nan));
  BOOST_TEST((Matrix<double>{{0.0}} == Matrix<double>{{-0.0}}));
}

BOOST_AUTO_TEST_CASE(printing_leaves_out_the_middle) {
  std::ostringstream small;
  small << Matrix<float>{{1, 2}, {3, 4}};
  BOOST_TEST(small.str() == "           1            2\n           3            4\n");
  std::ostringstream large;
  Matrix<float> a(20, 30);
  a(19, 29) = 42;
  large << a;
  BOOST_TEST(test::contains(large.str(), "..."));
  BOOST_TEST(test::contains(large.str(), "42\n"));
  std::ptrdiff_t lines = 0;
  for (const char c : large.str()) lines += c == '\n' ? 1 : 0;
  BOOST_TEST(lines == 9);
}

BOOST_AUTO_TEST_SUITE_END()
