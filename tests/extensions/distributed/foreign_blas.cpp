/// `pblas` under fake_blas.cpp, which the tests preload: ScaLAPACK's local products are not Tessera's then.

#include <cstdlib>
#include <string_view>

#include <boost/test/unit_test.hpp>

#include "ranks.hpp"
#include "support/expect.hpp"

namespace tessera::test {

BOOST_AUTO_TEST_SUITE(foreign_blas)

/// The order of sums decides, not whose BLAS it is.
BOOST_AUTO_TEST_CASE(pblas_runs_only_where_the_order_of_sums_is_the_contracts) {
  const char* fake = std::getenv("FAKE_BLAS");
  BOOST_REQUIRE(fake != nullptr);
  const Grid grid(MPI_COMM_WORLD, world_size(), 1);
  const auto a = Matrix<double>::random(60, 1500, Seed{1}), b = Matrix<double>::random(1500, 40, Seed{2});
  Matrix<double> c(60, 40);
  gemm(1.0, a, b, 0.0, c, {.backend = Backend::Reference});
  DistributedMatrix<double> on_a(grid, 60, 1500), on_b(grid, 1500, 40), on_c(grid, 60, 40);
  take_own_part(a, on_a);
  take_own_part(b, on_b);
  const auto multiply = [&](const char* engine) {
    return gemm(1.0, on_a, on_b, 0.0, on_c, {.engine = engine, .threads = 1}).engine;
  };
  if (std::string_view(fake) == "ascending") {
    BOOST_TEST(multiply("pblas") == "pblas");
  } else {
    expect_error<KernelRejected>([&] { multiply("pblas"); }, {"pblas", "another order of sums", "another BLAS"});
    multiply("");
  }
  BOOST_TEST(differing_bits(c, on_c) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
