/// Mistakes and shortages of one rank: every rank gets the exception, and C stays as it was.

#include <array>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "ranks.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

struct OnFour {
  Grid grid{MPI_COMM_WORLD, 2, 2};
  Matrix<float> whole_c = Matrix<float>::random(64, 48, Seed{3});
  DistributedMatrix<float> a{grid, 64, 1500}, b{grid, 1500, 48}, c{grid, 64, 48};

  OnFour() {
    take_own_part(Matrix<float>::random(64, 1500, Seed{1}), a);
    take_own_part(Matrix<float>::random(1500, 48, Seed{2}), b);
    take_own_part(whole_c, c);
  }
  /// The next product works, because nothing of a refused one is left over.
  ~OnFour() {
    BOOST_TEST(differing_bits(whole_c, c) == 0);
    gemm(1.0F, a, b, 0.0F, c);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(refusals, OnFour)

BOOST_AUTO_TEST_CASE(too_little_memory_on_one_rank) {
  const std::size_t limit = world_rank() == 2 ? 1000 : 0;
  expect_error<OutOfMemory>([&] { gemm(1.0F, a, b, 1.0F, c, {.memory_limit = limit}); },
                            {"rank 2", "memory_limit is 1000"});
}

BOOST_AUTO_TEST_CASE(the_planned_memory_is_enough) {
  const std::size_t planned = gemm(1.0F, a, b, 0.0F, c).planned_bytes;
  take_own_part(whole_c, c);
  expect_error<OutOfMemory>([&] { gemm(1.0F, a, b, 1.0F, c, {.memory_limit = planned - 1}); }, {"rank 0"});
  gemm(1.0F, a, b, 1.0F, c, {.memory_limit = planned});
  take_own_part(whole_c, c);
}

BOOST_AUTO_TEST_CASE(numbers_that_differ) {
  const float alpha = world_rank() == 3 ? 2.0F : 0.5F;
  expect_error<InvalidArgument>([&] { gemm(alpha, a, b, 1.0F, c); }, {"disagree on alpha", "0.5", "2"});
}

BOOST_AUTO_TEST_CASE(matrices_that_differ) {
  expect_error<InvalidArgument>([&] { DistributedMatrix<float>(grid, 5, world_rank() == 1 ? 6 : 5); },
                                {"disagree on the columns", "5", "6"});
  const DistributedMatrix<float> other(grid, 64, 1500, {8, 8});
  expect_error<InvalidArgument>([&] { gemm(1.0F, world_rank() == 0 ? other : a, b, 1.0F, c); },
                                {"disagree on the distribution of a"});
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_match) {
  expect_error<InvalidArgument>([&] { gemm(1.0F, a, a, 1.0F, c); }, {"64×1500", "1500 ≠ 64"});
  expect_error<InvalidArgument>([&] { gemm(1.0F, b.transposed(), a.transposed(), 1.0F, c); }, {"c is 64×48", "48×64"});
}

BOOST_AUTO_TEST_CASE(c_is_an_operand) {
  DistributedMatrix<float> square(grid, 32, 32);
  expect_error<InvalidArgument>([&] { gemm(1.0F, square, square, 0.0F, square); }, {"overlaps"});
}

BOOST_AUTO_TEST_CASE(an_unknown_engine) {
  expect_error<InvalidArgument>([&] { gemm(1.0F, a, b, 1.0F, c, {.engine = "suma"}); }, {"suma", "'summa'"});
}

BOOST_AUTO_TEST_CASE(a_backend_that_one_rank_lacks) {
  const Backend backend = world_rank() == 1 ? Backend::Cuda : Backend::Reference;
  expect_error<BackendUnavailable>([&] { gemm(1.0F, a, b, 1.0F, c, {.backend = backend}); }, {"rank 1", "cuda"});
}

BOOST_AUTO_TEST_CASE(grids_that_cannot_be) {
  expect_error<InvalidArgument>([] { Grid(MPI_COMM_WORLD, 2, 3); }, {"2×3×1 needs 6 ranks", "has 4"});
  expect_error<InvalidArgument>([] { Grid(MPI_COMM_WORLD, 0, 1); }, {"at least 1"});
  expect_error<InvalidArgument>([] { Grid(MPI_COMM_WORLD, 1, world_rank() == 0 ? 2 : 3); }, {"disagree on cols"});
  expect_error<InvalidArgument>([] { Grid(MPI_COMM_WORLD, 1, 1, 1, -1.0); }, {"time_limit"});
  expect_error<InvalidArgument>([] { Grid(MPI_COMM_NULL, 1, 1); }, {"MPI_COMM_NULL"});
  const char not_a_communicator = 0;
  expect_error<InvalidArgument>([&] { Grid(not_a_communicator, 1, 1); }, {"1 bytes"});
}

BOOST_AUTO_TEST_CASE(descriptors_that_lie) {
  std::vector<float> memory(4096);
  const auto wrap = [&](std::array<int, 9> descriptor) {
    DistributedMatrix<float>::wrap(grid, descriptor, memory.data());
  };
  const int lie = world_rank() == 3 ? 2 : 0; // on one rank alone
  expect_error<InvalidArgument>(
      [&] {
        wrap({1, 0, 64, 32, 8, 8, 0, 0, 32 - lie});
      },
      {"rank 3", "LLD_ = 30", "32 rows"});
  expect_error<InvalidArgument>([&] { wrap({1 + lie, 0, 64, 32, 8, 8, 0, 0, 32}); }, {"DTYPE_ = 3"});
  expect_error<InvalidArgument>([&] { wrap({1, 0, 64, 32, 8, 8, lie, 0, 32}); }, {"RSRC_ = 2"});
  expect_error<InvalidArgument>([&] { wrap({1, 0, 64, 32, 8, 8, 0, -1, 32}); }, {"CSRC_ = -1"});
  expect_error<InvalidArgument>([&] { wrap({1, 0, 64 + lie, 32, 8, 8, 0, 0, 64}); }, {"disagree on the rows"});
  expect_error<InvalidArgument>([&] { wrap({1, 0, 64, 32, 0, 8, 0, 0, 32}); }, {"0×8"});
  expect_error<InvalidArgument>(
      [&] {
        DistributedMatrix<float>::wrap(grid, {1, 0, 64, 32, 8, 8, 0, 0, 32}, nullptr);
      },
      {"null"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
