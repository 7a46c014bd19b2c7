/// Copies between distributions, and what a rank holds.

#include <array>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "ranks.hpp"

namespace tessera::test {

BOOST_AUTO_TEST_CASE(each_element_is_on_one_rank) {
  const Grid grid(MPI_COMM_WORLD, 2, 2);
  for (const Blocks blocks : {Blocks{1, 1}, Blocks{3, 5}, Blocks{1500, 2}, Blocks{}}) {
    const DistributedMatrix<float> x(grid, 17, 29, blocks);
    BOOST_TEST(total(static_cast<std::uint64_t>(x.local_rows() * x.local_cols()), MPI_COMM_WORLD) == 17U * 29U);
  }
}

BOOST_AUTO_TEST_CASE(scatter_and_gather_keep_the_elements) {
  const Grid grid(MPI_COMM_WORLD, 2, 2);
  const auto whole = Matrix<double>::random(33, 21, Seed{1});
  for (const auto order : {LocalOrder::RowMajor, LocalOrder::ColumnMajor})
    for (const Blocks blocks : {Blocks{4, 3}, Blocks{100, 1}}) {
      DistributedMatrix<double> x(grid, 33, 21, blocks, order);
      x.scatter(world_rank() == 1 ? whole : Matrix<double>(0, 0), 1);
      BOOST_TEST(differing_bits(whole, x) == 0);
      const Matrix<double> back = x.gather(3);
      if (world_rank() == 3) BOOST_TEST(detail::equal(back.view().operand(), whole.view().operand()));
      if (world_rank() != 3) BOOST_TEST(back.empty());
    }
}

BOOST_AUTO_TEST_CASE(redistribute_changes_grid_blocks_and_order) {
  const Grid square(MPI_COMM_WORLD, 2, 2), line(MPI_COMM_WORLD, 1, 3);
  const auto whole = Matrix<float>::random(50, 40, Seed{2});
  DistributedMatrix<float> x(square, 50, 40, {7, 9}), y(line, 50, 40, {2, 4}, LocalOrder::ColumnMajor);
  take_own_part(whole, x);
  x.redistribute(y);
  BOOST_TEST(differing_bits(whole, y) == 0);
}

/// Do two matrices have the same elements in the columns of the second one?
template <class T>
bool same_row(const Whole<T>& x, const Whole<T>& y, Index i) {
  for (Index j = 0; j < y.cols(); ++j)
    if (!same_bits(x(i, j), y(i, j))) return false;
  return true;
}

/// Scatters from one rank's memory, changes the distribution and gathers to another rank's memory.
template <class T>
void copy_around() {
  const Grid square(MPI_COMM_WORLD, 2, 2), line(MPI_COMM_WORLD, 1, 3);
  const auto whole = Whole<T>::random(33, 21, Seed{5});
  DistributedMatrix<T> x(square, 33, 21, {4, 3}, LocalOrder::ColumnMajor), y(line, 33, 21, {7, 2});
  x.scatter(world_rank() == 2 ? whole.data() : nullptr, whole.ld(), 2);
  BOOST_TEST(differing_bits(whole, x) == 0);
  x.redistribute(y);
  BOOST_TEST(differing_bits(whole, y) == 0);
  Whole<T> back(33, 25); // with four columns to spare
  y.gather(world_rank() == 1 ? back.data() : nullptr, back.ld(), 1);
  if (world_rank() != 1) return;
  for (Index i = 0; i < 33; ++i) BOOST_TEST(same_row(back, whole, i));
}

BOOST_AUTO_TEST_CASE(elements_of_all_types_are_copied) {
  copy_around<f16>();
  copy_around<bf16>();
  copy_around<double>();
  copy_around<std::complex<float>>();
  copy_around<std::complex<double>>();
}

/// A matrix of several windows: a copy sends at most 32 MiB of elements at a time.
BOOST_AUTO_TEST_CASE(large_copies_go_window_by_window) {
  const Grid grid(MPI_COMM_WORLD, 4, 1);
  const auto whole = Matrix<float>::random(2900, 2950, Seed{3});
  DistributedMatrix<float> x(grid, 2900, 2950, {64, 64});
  x.scatter(whole, 0);
  BOOST_TEST(differing_bits(whole, x) == 0);
}

BOOST_AUTO_TEST_CASE(a_descriptor_of_scalapack_is_wrapped) {
  const Grid grid(MPI_COMM_WORLD, 2, 2);
  const auto whole = Matrix<double>::random(10, 12, Seed{4});
  const int row = grid.rank() / 2, col = grid.rank() % 2;
  // Blocks of 3×4, the first one on process row 1: rows 0–2, 6–8 are on row 1, columns 0–3, 8–11 on column 0.
  const std::vector<Index> rows = row == 1 ? std::vector<Index>{0, 1, 2, 6, 7, 8} : std::vector<Index>{3, 4, 5, 9};
  const std::vector<Index> cols =
      col == 0 ? std::vector<Index>{0, 1, 2, 3, 8, 9, 10, 11} : std::vector<Index>{4, 5, 6, 7};
  constexpr int ld = 9;
  std::vector<double> memory(ld * cols.size(), -1);
  for (std::size_t j = 0; j < cols.size(); ++j)
    for (std::size_t i = 0; i < rows.size(); ++i) memory[i + j * ld] = whole(rows[i], cols[j]);
  auto x = DistributedMatrix<double>::wrap(grid, {1, 0, 10, 12, 3, 4, 1, 0, ld}, memory.data());
  BOOST_TEST(x.local_rows() == static_cast<Index>(rows.size()));
  BOOST_TEST(x.local_cols() == static_cast<Index>(cols.size()));
  BOOST_TEST(differing_bits(whole, x) == 0);
  const Matrix<double> back = x.gather(0);
  if (world_rank() == 0) BOOST_TEST(detail::equal(back.view().operand(), whole.view().operand()));
}

} // namespace tessera::test
