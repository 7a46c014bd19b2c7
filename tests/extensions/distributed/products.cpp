/// Products whose traffic follows from a formula, and what the report says.

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "mpi_traffic.hpp"
#include "ranks.hpp"

namespace tessera::test {
namespace {

struct Case {
  int rows, cols, layers;
};

/// Multiplies matrices that lie as C needs them. Returns the bytes that all ranks received, as MPI saw them.
std::uint64_t bytes_of_product(const Case& on, Index m, Index n, Index k, const std::string& engine) {
  const Grid grid(MPI_COMM_WORLD, on.rows, on.cols, on.layers);
  const auto a = Matrix<float>::random(m, k, Seed{1}), b = Matrix<float>::random(k, n, Seed{2});
  Matrix<float> c(m, n);
  DistributedMatrix<float> dist_a(grid, m, k), dist_b(grid, k, n), dist_c(grid, m, n);
  take_own_part(a, dist_a);
  take_own_part(b, dist_b);
  const DistributedOptions options{.engine = engine, .threads = 1};
  gemm(1.0F, dist_a, dist_b, 0.0F, dist_c, options); // pblas tries ScaLAPACK at its first use
  mpi_traffic() = {};
  const DistributedReport report = gemm(1.0F, dist_a, dist_b, 0.0F, dist_c, options);
  const MpiTraffic traffic = mpi_traffic();
  gemm(1.0F, a, b, 0.0F, c);
  BOOST_TEST(differing_bits(c, dist_c) == 0);
  BOOST_TEST(report.engine == engine);
  BOOST_TEST(traffic.reduced == 0U);
  BOOST_TEST(report.counts_bytes == (engine == "summa"));
  if (report.counts_bytes) BOOST_TEST(report.bytes_received == traffic.received);
  return total(traffic.received, MPI_COMM_WORLD);
}

} // namespace

BOOST_AUTO_TEST_CASE(bytes_follow_the_formula) {
  constexpr std::uint64_t m = 96, n = 80, k = 4096; // ScaLAPACK moves C for a smaller m
  for (const Case& on : {Case{1, 1, 1}, Case{1, 4, 1}, Case{4, 1, 1}, Case{2, 2, 1}, Case{1, 2, 2}, Case{1, 1, 4}}) {
    const auto rows = static_cast<std::uint64_t>(on.rows), cols = static_cast<std::uint64_t>(on.cols),
               layers = static_cast<std::uint64_t>(on.layers);
    const std::uint64_t expected = m * k * (cols - 1) + k * n * (rows - 1)   // along rows and columns
                                   + (m * k + k * n) * (layers - 1) / layers // to the other layers
                                   + m * n * (layers - 1);                   // running sums
    BOOST_TEST_CONTEXT(on.rows << "×" << on.cols << "×" << on.layers) {
      BOOST_TEST(bytes_of_product(on, m, n, k, "summa") == expected * sizeof(float));
      if (on.layers == 1 && std::getenv("DISTRIBUTED_SCALAPACK") != nullptr)
        BOOST_TEST(bytes_of_product(on, m, n, k, "pblas") == expected * sizeof(float));
    }
  }
}

/// A rank's counts follow from its part and the number of segments: there is no queue that all ranks ask, and nothing
/// is collected for others.
BOOST_AUTO_TEST_CASE(a_rank_sends_what_the_formula_says) {
  constexpr std::uint64_t segments = 5;
  constexpr Index m = 48, n = 72, k = 1024 * segments;
  for (const Case& on : {Case{1, 1, 1}, Case{1, 2, 1}, Case{2, 1, 1}, Case{2, 2, 1}, Case{4, 1, 1}, Case{2, 3, 1},
                         Case{1, 6, 1}, Case{1, 1, 2}, Case{1, 1, 4}, Case{1, 1, 6}}) {
    const FirstRanks members(on.rows * on.cols * on.layers);
    if (on.rows * on.cols * on.layers > world_size() || !members.holds_this_rank()) continue;
    const Grid grid(members.comm(), on.rows, on.cols, on.layers);
    DistributedMatrix<float> a(grid, m, k, {0, 1024}), b(grid, k, n, {1024, 0}), c(grid, m, n);
    take_own_part(Matrix<float>::random(m, k, Seed{1}), a);
    take_own_part(Matrix<float>::random(k, n, Seed{2}), b);
    const DistributedReport report = gemm(1.0F, a, b, 0.0F, c, {.engine = "summa", .threads = 1});

    const auto layers = std::min<std::uint64_t>(static_cast<std::uint64_t>(on.layers), segments);
    const auto layer = static_cast<std::uint64_t>(grid.rank() / (on.rows * on.cols));
    const auto elements = [](const DistributedMatrix<float>& x) {
      return static_cast<std::uint64_t>(x.local_rows() * x.local_cols());
    };
    std::uint64_t broadcasts = 0, messages = 0, sent = 0;
    if (on.cols > 1) broadcasts += segments, sent += elements(a);
    if (on.rows > 1) broadcasts += segments, sent += elements(b);
    if (layers > 1 && layer < layers) {
      // Layer 0 sends each segment of A and of B that it does not multiply to the layer that does, and the running sum
      // goes from layer to layer as one strip.
      const std::uint64_t first = segments * (layers - 1 - layer) / layers;
      const std::uint64_t end = layer == 0 ? segments : segments * (layers - layer) / layers;
      const std::uint64_t of_operands = layer == 0 ? first : end - first;
      messages = 2 * of_operands + (layer > 0 ? 1 : 0) + (layer + 1 < layers ? 1 : 0);
      sent = layer == 0 ? of_operands * 1024 * (m + n) : static_cast<std::uint64_t>(m * n);
    }
    BOOST_TEST_CONTEXT(on.rows << "×" << on.cols << "×" << on.layers << ", rank " << grid.rank()) {
      BOOST_TEST(report.broadcasts == broadcasts);
      BOOST_TEST(report.messages == messages);
      BOOST_TEST(report.bytes_sent == sent * sizeof(float));
      BOOST_TEST(report.bytes_received == report.bytes_expected);
      BOOST_TEST(report.agreements == 4U);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_best_grid_receives_the_fewest_elements) {
  const Grid square = Grid::best(MPI_COMM_WORLD, 4096, 4096, 1024);
  BOOST_TEST(square.rows() == 2);
  BOOST_TEST(square.cols() == 2);
  const Grid tall = Grid::best(MPI_COMM_WORLD, 100000, 16, 1024);
  BOOST_TEST(tall.rows() == 4);
  const Grid deep = Grid::best(MPI_COMM_WORLD, 16, 16, 100000);
  BOOST_TEST(deep.layers() == 4);
  const Grid shallow = Grid::best(MPI_COMM_WORLD, 2, 2, 1000);
  BOOST_TEST(shallow.layers() == 1);
}

BOOST_AUTO_TEST_CASE(a_transposed_and_wrapped_product_has_the_bits_of_one_rank) {
  const Grid grid = Grid::best(MPI_COMM_WORLD, 130, 90, 2100);
  const auto a = Matrix<double>::random(2100, 130, Seed{5}), b = Matrix<double>::random(2100, 90, Seed{6});
  auto c = Matrix<double>::random(130, 90, Seed{7});
  DistributedMatrix<double> dist_a(grid, 2100, 130), dist_b(grid, 2100, 90, {32, 32}), dist_c(grid, 130, 90, {16, 64});
  take_own_part(a, dist_a);
  take_own_part(b, dist_b);
  take_own_part(c, dist_c);
  const DistributedReport report = gemm(0.5, dist_a.transposed(), dist_b, -2.0, dist_c);
  gemm(0.5, a.transposed(), b, -2.0, c);
  BOOST_TEST(differing_bits(c, dist_c) == 0);
  BOOST_TEST(report.bytes_received == report.bytes_expected);
}

/// With a grid of one rank the other ranks of the communicator have nothing, and take part all the same.
BOOST_AUTO_TEST_CASE(ranks_without_a_place_take_part) {
  const Grid grid(MPI_COMM_WORLD, 1, 1);
  const auto a = Matrix<float>::random(20, 2000, Seed{8});
  Matrix<float> c(20, 20);
  DistributedMatrix<float> x(grid, 20, 2000), y(grid, 20, 20);
  take_own_part(a, x);
  const DistributedReport report = gemm(1.0F, x, x.transposed(), 0.0F, y);
  gemm(1.0F, a, a.transposed(), 0.0F, c);
  BOOST_TEST(differing_bits(c, y) == 0);
  if (world_rank() > 0) BOOST_TEST(report.allocated_bytes == 0U);
}

} // namespace tessera::test
