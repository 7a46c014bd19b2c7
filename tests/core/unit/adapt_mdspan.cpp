/// mdspan, and types that only look like one.

#include <tessera/interop/mdspan.hpp>

#include <vector>

#include <boost/test/unit_test.hpp>

#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// The smallest type that models MdspanLike.
template <class T>
struct Grid {
  using element_type = T;
  static constexpr int rank() { return 2; }
  int extent(std::size_t dimension) const { return dimension == 0 ? rows : cols; }
  int stride(std::size_t dimension) const { return dimension == 0 ? row_step : col_step; }
  T* data_handle() const { return data; }

  T* data;
  int rows, cols, row_step, col_step;
};

/// A view must not take elements that an accessor computes for elements in memory.
struct Negated : Grid<float> {
  using reference = float;
};
struct Cube : Grid<float> {
  static constexpr int rank() { return 3; }
};
static_assert(MdspanLike<Grid<float>> && MdspanLike<Grid<const double>>);
static_assert(!MdspanLike<Negated> && !MdspanLike<Cube> && !MdspanLike<Grid<int>>);

} // namespace

BOOST_AUTO_TEST_SUITE(adapt_mdspan)

BOOST_AUTO_TEST_CASE(elements_are_seen_where_they_are) {
  std::vector<float> x(60);
  const auto at = [&x](const Grid<float>& grid, Index i, Index j) {
    const auto view = view_of(grid);
    BOOST_TEST(view.rows() == grid.rows);
    BOOST_TEST(view.cols() == grid.cols);
    return &view(i, j) - x.data();
  };
  BOOST_TEST(at({x.data(), 3, 5, 7, 1}, 2, 4) == 18); // row-major
  BOOST_TEST(at({x.data(), 3, 5, 1, 4}, 2, 4) == 18); // column-major
  BOOST_TEST(at({x.data(), 5, 1, 9, 3}, 4, 0) == 36); // one column
  BOOST_TEST(at({x.data(), 1, 5, 3, 9}, 0, 4) == 36); // one row
  BOOST_TEST(at({x.data(), 1, 1, -3, 0}, 0, 0) == 0); // one element
  BOOST_TEST(view_of(Grid<float>{nullptr, 0, 5, 5, 1}).cols() == 5);
  BOOST_TEST(view_of(Grid<float>{nullptr, 5, 0, 0, 1}).rows() == 5);
}

BOOST_AUTO_TEST_CASE(steps_that_gemm_cannot_take_are_named) {
  std::vector<float> x(60);
  for (const auto& [row_step, col_step] : {std::pair{10, 2}, {4, 1}, {1, 2}, {0, 1}, {-5, 1}, {5, -1}, {1, 0}}) {
    const Grid<const float> grid{x.data() + 30, 3, 5, row_step, col_step};
    expect_error<InvalidArgument>([&] { view_of(grid); },
                                  {"mdspan matrix of 3×5", std::to_string(row_step) + " elements from row to row",
                                   std::to_string(col_step) + " from column to column", "from_mdspan"});
  }
  x[34] = 7;
  BOOST_TEST(from_mdspan(Grid<float>{x.data(), 4, 3, 10, 2}).at(3, 2) == 7);
}

BOOST_AUTO_TEST_CASE(products_read_and_write_in_place) {
  std::vector<float> x{1, 2, 3, 4, 5, 6}, z(6, 9);
  const Grid<const float> rows{x.data(), 2, 3, 3, 1}, columns{x.data(), 3, 2, 1, 3};
  BOOST_TEST((gemm(rows, columns, Backend::Reference) == Matrix<float>{{14, 32}, {32, 77}}));
  gemm(1.0f, rows, Matrix<float>{{1, 0}, {0, 1}, {1, 1}}, 0.0f, Grid<float>{z.data(), 2, 2, 1, 3});
  BOOST_TEST(z == (std::vector<float>{4, 10, 9, 5, 11, 9}), boost::test_tools::per_element());
}

#if TESSERA_HAS_MDSPAN
BOOST_AUTO_TEST_CASE(a_librarys_own_mdspan) {
  namespace md = detail::md;
  std::vector<double> x{1, 2, 3, 4, 5, 6};
  const md::mdspan<double, md::dextents<int, 2>, md::layout_left> columns(x.data(), 3, 2);
  BOOST_TEST(&view_of(columns)(2, 1) == &x[5]);
  BOOST_TEST(view_of(columns)(0, 1) == 4);
  Matrix c = gemm(columns, md::mdspan<const double, md::extents<int, 2, 3>>(x.data()));
  BOOST_TEST(c.at(2, 2) == 3 * 3 + 6 * 6);
  auto seen = as_mdspan(c);
  BOOST_TEST(&seen.accessor().access(seen.data_handle(), static_cast<std::size_t>(seen.mapping()(2, 1))) == &c(2, 1));
  const auto flipped = as_mdspan(std::as_const(c).transposed().block(1, 0, 2, 3));
  BOOST_TEST((from_mdspan(flipped) == c.transposed().block(1, 0, 2, 3)));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
