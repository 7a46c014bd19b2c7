/// Products of ranks whose device has no memory for their part of the sums. Plug-ins of tests/system/plugin stand in
/// for the device, which has 4 MiB here: small_device, and lazy_device, which sees whether its queues wait for one
/// another.

#include <array>
#include <complex>
#include <random>

#include <boost/test/unit_test.hpp>

#include "copied_bytes.hpp"
#include "mpi_traffic.hpp"
#include "ranks.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

/// Both ranks have a device.
DistributedOptions on_device() {
  return {.backend = Backend::Cuda, .device = world_rank() % 2, .engine = "summa", .threads = 1};
}

/// A product whose result every rank knows.
template <class T>
struct Known {
  Known(const Grid& grid, Index rows, Index cols, Index inner, DistributedFactor<T> alpha_, DistributedFactor<T> beta_,
        LocalOrder order = LocalOrder::RowMajor, Blocks of_a = {}, Blocks of_b = {})
      : alpha(alpha_),
        beta(beta_),
        a(grid, rows, inner, of_a),
        b(grid, inner, cols, of_b),
        c(grid, rows, cols, {}, order),
        expected(grid, rows, cols, {}, order),
        before(Whole<T>::random(rows, cols, Seed{3})) {
    take_own_part(Whole<T>::random(rows, inner, Seed{1}), a);
    take_own_part(Whole<T>::random(inner, cols, Seed{2}), b);
    take_own_part(before, expected);
    gemm(alpha, a, b, beta, expected, {.backend = Backend::OpenMP, .engine = "summa", .threads = 1});
    take_own_part(before, c);
  }
  DistributedReport multiply(const DistributedOptions& options = on_device()) {
    return gemm(alpha, a, b, beta, c, options);
  }
  DistributedPlan plan(const DistributedOptions& options = on_device()) const {
    return plan_gemm(alpha, a, b, beta, c, options);
  }
  Index differing() const { return differing_elements(expected, c); }
  Index changed() const { return differing_bits(before, c); }

  DistributedFactor<T> alpha, beta;
  DistributedMatrix<T> a, b, c, expected;
  Whole<T> before;
};

template <class T>
void check_random(std::mt19937_64& random) {
  const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<std::uint64_t>(n)); };
  constexpr std::array<std::array<int, 3>, 4> shapes{{{1, 2, 1}, {2, 1, 1}, {1, 1, 1}, {1, 1, 2}}};
  const auto& [rows, cols, layers] = shapes[static_cast<std::size_t>(below(4))];
  const Grid grid(MPI_COMM_WORLD, rows, cols, layers);
  const auto blocks = [&] { return below(2) == 0 ? Blocks{} : Blocks{1 + below(90), below(2) == 0 ? 1024 : 30}; };
  const Index m = 1 + below(400), n = 1 + below(400),
              k = 1 + below(12 * detail::segment_of(detail::DistributedTypeOf<T>::value));
  const DistributedFactor<T> factors[]{0.0F, 1.0F, 0.5F};
  const auto alpha = factors[1 + below(2)], beta = factors[below(3)];
  const auto order = below(2) == 0 ? LocalOrder::RowMajor : LocalOrder::ColumnMajor;
  const Blocks of_a = blocks(), of_b = blocks();
  Known<T> product(grid, m, n, k, alpha, beta, order, of_a, of_b);
  DistributedOptions options = on_device();
  if (below(4) == 0 && world_rank() == 1) options.backend = Backend::OpenMP, options.device = -1;
  const DistributedPlan plan = product.plan(options);
  const DistributedReport report = product.multiply(options);
  BOOST_TEST_CONTEXT(m << "×" << n << "×" << k << " on " << rows << "×" << cols << "×" << layers) {
    BOOST_TEST(product.differing() == 0);
    BOOST_TEST(report.planned_bytes == plan.bytes());
    BOOST_TEST(report.allocated_bytes == plan.bytes());
    BOOST_TEST(report.bytes_received == report.bytes_expected);
    BOOST_TEST(plan.device_bytes <= std::size_t{4} << 20);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(blocks)

BOOST_AUTO_TEST_CASE(random_products) {
  std::mt19937_64 random(5);
  for (int i = 0, cases = number_of("DISTRIBUTED_CASES", 12); i < cases; ++i) {
    check_random<float>(random);
    if (i % 4 == 0) check_random<double>(random);
    if (i % 4 == 1) check_random<bf16>(random);
    if (i % 4 == 2) check_random<std::complex<float>>(random);
    if (i % 4 == 3) check_random<std::complex<double>>(random);
  }
}

/// Blocks have at most 64×64 elements here. Panels of A are copied once for each column of blocks, panels of B once for
/// each row of blocks, and the sums once for each group of eight segments. Ranks receive what they receive otherwise.
BOOST_AUTO_TEST_CASE(copies_and_messages_follow_the_formula) {
  constexpr Index m = 300, n = 260, k = 17 * 1024 + 100, groups = 3;
  for (const auto& [p, q] : {std::array{1, 2}, std::array{2, 1}, std::array{1, 1}}) {
    const Grid grid(MPI_COMM_WORLD, p, q);
    Known<float> product(grid, m, n, k, 0.5F, 1.0F, LocalOrder::RowMajor, {0, 1024}, {1024, 0});
    const auto rows = product.c.local_rows(), cols = product.c.local_cols();
    const Index row_blocks = (rows + 63) / 64, col_blocks = (cols + 63) / 64;
    const CopiedBytes copied;
    const DistributedReport report = product.multiply();
    BOOST_TEST_CONTEXT(p << "×" << q) {
      BOOST_TEST(product.differing() == 0);
      BOOST_TEST(copied.in() == static_cast<std::uint64_t>(rows * k * col_blocks + cols * k * row_blocks +
                                                           rows * cols * (groups - 1)) *
                                    sizeof(float));
      BOOST_TEST(copied.out() == static_cast<std::uint64_t>(rows * cols * groups) * sizeof(float));
      BOOST_TEST(report.bytes_received == report.bytes_expected);
      BOOST_TEST(total(report.bytes_received, MPI_COMM_WORLD) ==
                 static_cast<std::uint64_t>(m * k * (q - 1) + k * n * (p - 1)) * sizeof(float));
    }
  }
}

/// A program uses a part of one rank's device. This rank takes smaller blocks than planned, and says so.
BOOST_AUTO_TEST_CASE(a_device_with_less_memory_left) {
  const Grid grid(MPI_COMM_WORLD, 1, 2);
  Known<float> product(grid, 100, 200, 2 * 1024, 1.0F, 0.5F);
  const DistributedPlan plan = product.plan();
  BOOST_TEST(plan.device_bytes > std::size_t{3} << 19);
  const LittleMemory little(world_rank() == 1 ? 3 << 19 : 4 << 20);
  const DistributedReport report = product.multiply();
  BOOST_TEST(product.differing() == 0);
  BOOST_TEST(report.allocated_bytes == report.planned_bytes);
  BOOST_TEST((report.planned_bytes == plan.bytes()) == (world_rank() == 0));
}

/// One rank's device has no memory left: every rank says so, C stays as it was, and the next product finds memory.
BOOST_AUTO_TEST_CASE(a_device_without_memory) {
  const Grid grid(MPI_COMM_WORLD, 2, 1);
  Known<float> product(grid, 300, 300, 3 * 1024, 1.0F, 0.5F);
  {
    const LittleMemory little(world_rank() == 1 ? 1 << 19 : 4 << 20);
    expect_error<OutOfMemory>([&] { product.multiply(); },
                              {"rank 1", "150×300 sums", "blocks of 50×60", "device is full", "more ranks"});
  }
  BOOST_TEST(product.changed() == 0);
  product.multiply();
  BOOST_TEST(product.differing() == 0);
}

/// With device_messages A's panels are in the device's memory, whole, and fewer of them are kept.
BOOST_AUTO_TEST_CASE(panels_in_the_memory_of_the_device) {
  const Grid grid(MPI_COMM_WORLD, 1, 2);
  Known<float> product(grid, 100, 1200, 5 * 1024 + 10, 1.0F, 0.5F);
  DistributedOptions options = on_device();
  options.device_messages = true;
  mpi_on_devices().answer = 1;
  const DistributedPlan plan = product.plan(options);
  const DistributedReport report = product.multiply(options);
  mpi_on_devices() = {};
  BOOST_TEST(product.differing() == 0);
  BOOST_TEST(plan.device_bytes <= std::size_t{4} << 20);
  BOOST_TEST(report.allocated_bytes == plan.bytes());
  BOOST_TEST(report.bytes_received == report.bytes_expected);
}

BOOST_AUTO_TEST_CASE(the_limit_counts_host_and_device) {
  const Grid grid(MPI_COMM_WORLD, 1, 2);
  Known<float> product(grid, 300, 300, 3 * 1024, 1.0F, 0.0F);
  const DistributedPlan plan = product.plan();
  BOOST_TEST(plan.host_bytes > 0U);
  BOOST_TEST(plan.device_bytes > 0U);
  DistributedOptions options = on_device();
  options.memory_limit = plan.bytes() - (world_rank() == 1 ? 1 : 0);
  expect_error<OutOfMemory>([&] { product.multiply(options); }, {"rank 1", "memory_limit"});
  BOOST_TEST(product.changed() == 0);
  options.memory_limit = plan.bytes();
  product.multiply(options);
  BOOST_TEST(product.differing() == 0);
}

/// C stays on the device, which has no memory for its sums besides: they go through the host.
BOOST_AUTO_TEST_CASE(c_stays_on_a_device_that_is_too_small_for_its_sums) {
  const Grid grid(MPI_COMM_WORLD, 1, 2);
  Known<float> product(grid, 300, 300, 3 * 1024, 1.0F, 0.5F);
  DistributedMatrix<float> c(grid, 300, 300, Residence(Backend::Cuda, world_rank() % 2));
  take_own_part(product.before, c);
  for (int i = 0; i < 2; ++i) {
    const DistributedReport report = gemm(1.0F, product.a, product.b, 0.5F, c);
    BOOST_TEST(report.allocated_bytes == report.planned_bytes);
    BOOST_TEST(differing_elements(product.expected, c) == 0);
    take_own_part(product.before, c);
  }
}

BOOST_AUTO_TEST_SUITE_END()

/// The device of rank 1 fails at a copy in the middle of the blocks; SMALL_DEVICE_BREAKS says when.
BOOST_AUTO_TEST_CASE(broken_device_in_blocks) {
  const Grid grid(MPI_COMM_WORLD, 1, 2, 1, 20.0);
  Known<float> product(grid, 300, 300, 10 * 1024, 1.0F, 0.5F);
  expect_error<DeviceError>([&] { product.multiply(); }, {"rank 1", "fell off the bus"});
  BOOST_TEST(product.changed() == 0);
  product.multiply({.backend = Backend::Reference, .threads = 1}); // nothing is left over
  BOOST_TEST(product.differing() == 0);
}

} // namespace tessera::test
