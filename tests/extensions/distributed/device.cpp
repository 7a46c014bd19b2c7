/// Products whose local parts a device with memory of its own computes. Here it is the plug-in of tests/system/plugin
/// that stands in for a GPU.

#include <array>
#include <cstdlib>

#include <boost/test/unit_test.hpp>

#include "copied_bytes.hpp"
#include "mpi_traffic.hpp"
#include "ranks.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

/// Multiplies with panels in the device's memory, which MPI says that it takes.
template <class T, class R>
void check_device_messages(const DistributedMatrix<T>& a, const DistributedMatrix<T>& b, DistributedMatrix<R>& c,
                           Scalar<T> alpha, Scalar<T> beta, const Matrix<R>& expected, DistributedOptions options) {
  const DistributedPlan through_host = plan_gemm(alpha, a, b, beta, c, options);
  options.device_messages = true;
  mpi_on_devices().answer = 1;
  const DistributedPlan plan = plan_gemm(alpha, a, b, beta, c, options);
  const DistributedReport report = gemm(alpha, a, b, beta, c, options);
  mpi_on_devices() = {};
  BOOST_TEST(differing_bits(expected, c) == 0);
  BOOST_TEST(report.allocated_bytes == plan.bytes());
  BOOST_TEST(report.bytes_received == report.bytes_expected);
  if (through_host.bytes_expected > 0) BOOST_TEST(plan.host_bytes <= through_host.host_bytes);
}

/// Multiplies on every grid of the world's ranks and compares with the product on one rank.
template <class T, class R = T>
void check(Index m, Index n, Index k, Scalar<T> alpha, Scalar<T> beta) {
  const auto a = Matrix<T>::random(m, k, Seed{1}), b = Matrix<T>::random(k, n, Seed{2});
  const auto before = Matrix<R>::random(m, n, Seed{3});
  Matrix<R> expected = before;
  gemm(alpha, a, b, beta, expected, {.backend = Backend::Reference});
  for (const auto& [rows, cols, layers] : {std::array{1, 2, 1}, std::array{2, 1, 1}, std::array{1, 1, 2}}) {
    const Grid grid(MPI_COMM_WORLD, rows, cols, layers);
    DistributedMatrix<T> dist_a(grid, m, k), dist_b(grid, k, n);
    DistributedMatrix<R> dist_c(grid, m, n);
    take_own_part(a, dist_a);
    take_own_part(b, dist_b);
    take_own_part(before, dist_c);
    const DistributedOptions options{.backend = Backend::Cuda, .device = world_rank() % 2, .engine = "summa"};
    check_device_messages(dist_a, dist_b, dist_c, alpha, beta, expected, options);
    take_own_part(before, dist_c);
    const DistributedPlan plan = plan_gemm(alpha, dist_a, dist_b, beta, dist_c, options);
    const DistributedReport report = gemm(alpha, dist_a, dist_b, beta, dist_c, options);
    BOOST_TEST_CONTEXT(m << "×" << n << "×" << k << " on " << rows << "×" << cols << "×" << layers) {
      BOOST_TEST(differing_bits(expected, dist_c) == 0);
      BOOST_TEST(report.allocated_bytes == plan.bytes());
      const bool multiplies = dist_c.local_rows() * dist_c.local_cols() > 0 || layers > 1;
      BOOST_TEST((plan.device_bytes > 0) == (multiplies && grid.rank() < rows * cols * layers));
    }
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(device)

BOOST_AUTO_TEST_CASE(the_bits_are_those_of_one_rank) {
  check<float>(57, 43, 5 * 1024 + 100, 0.5F, 0.25F);
  check<float>(64, 128, 2048, 1.0F, 0.0F);
  check<double>(33, 70, 3 * 1024, -1.0, 2.0);
  check<bf16>(40, 51, 2 * 1024 + 8, 1.0F, 0.5F);
  check<float>(3, 1, 1500, 1.0F, 1.0F); // a rank has no column
}

/// Panels that are broadcast lie in memory that the device copies from, and the grid keeps it for the next product.
/// Each panel is copied to the device once, and the sums from it once.
BOOST_AUTO_TEST_CASE(panels_are_in_memory_for_copies) {
  constexpr Index m = 64, n = 128, k = 2048 + 100;
  const Grid grid(MPI_COMM_WORLD, 1, 2);
  DistributedMatrix<float> a(grid, m, k, {0, 1024}), b(grid, k, n), c(grid, m, n);
  const auto whole_a = Matrix<float>::random(m, k, Seed{1}), whole_b = Matrix<float>::random(k, n, Seed{2});
  take_own_part(whole_a, a);
  take_own_part(whole_b, b);
  const Matrix<float> expected = gemm(whole_a, whole_b, Backend::Reference);
  const DistributedOptions options{.backend = Backend::Cuda, .device = world_rank() % 2, .engine = "summa"};
  for (const int allocations : {2, 0}) {
    const CopiedBytes copied;
    gemm(1.0F, a, b, 0.0F, c, options);
    BOOST_TEST(differing_bits(expected, c) == 0);
    BOOST_TEST(copied.in() == static_cast<std::uint64_t>(m * k + k * n / 2) * sizeof(float));
    BOOST_TEST(copied.out() == static_cast<std::uint64_t>(m * n / 2) * sizeof(float));
    BOOST_TEST(copied.host_allocations() == allocations);
  }
}

/// One rank alone has no such memory: every rank says so.
BOOST_AUTO_TEST_CASE(no_memory_for_copies_on_one_rank) {
  const Grid grid(MPI_COMM_WORLD, 1, 2);
  const Matrix<float> sevens(64, 64, 7.0F);
  DistributedMatrix<float> a(grid, 64, 1500), c(grid, 64, 64);
  take_own_part(sevens, c);
  const DistributedOptions options{.backend = Backend::Cuda, .engine = "summa"};
  if (world_rank() == 1) setenv("SMALL_DEVICE_NO_HOST", "1", 1);
  expect_error<OutOfMemory>([&] { gemm(1.0F, a, a.transposed(), 0.0F, c, options); },
                            {"rank 1", "small device has no host memory"});
  unsetenv("SMALL_DEVICE_NO_HOST");
  BOOST_TEST(differing_bits(sevens, c) == 0);
}

BOOST_AUTO_TEST_CASE(a_device_that_is_not_there) {
  const Grid grid(MPI_COMM_WORLD, 1, 2);
  DistributedMatrix<float> a(grid, 8, 8), c(grid, 8, 8);
  const int device = world_rank() == 1 ? 2 : 0;
  expect_error<BackendUnavailable>([&] { gemm(1.0F, a, a, 1.0F, c, {.backend = Backend::Cuda, .device = device}); },
                                   {"rank 1", "device 2"});
  expect_error<InvalidArgument>([&] { gemm(1.0F, a, a, 1.0F, c, {.device = 1}); }, {"device 1 of no backend"});
  expect_error<InvalidArgument>([&] { gemm(1.0F, a, a, 1.0F, c, {.backend = Backend::Reference, .device = 1}); },
                                {"reference", "no devices"});
}

/// The MPI does not take a device's memory. Nothing was sent when it is refused, because that might end the process.
BOOST_AUTO_TEST_CASE(an_mpi_without_support_for_devices) {
  const Grid grid(MPI_COMM_WORLD, 1, 2);
  DistributedMatrix<float> a(grid, 8, 8), c(grid, 8, 8);
  const DistributedOptions options{.backend = world_rank() == 1 ? Backend::Cuda : Backend::Reference,
                                   .device_messages = true};
  for (const int answer : {0, -1}) {
    mpi_on_devices().answer = answer;
    mpi_traffic() = {};
    expect_error<BackendUnavailable>(
        [&] { gemm(1.0F, a, a, 1.0F, c, options); },
        {"device_messages: rank 1", "MPIX_Query_cuda_support", "small device", "leave device_messages out"});
    BOOST_TEST(mpi_traffic().received < 1024U); // the agreement on the error
  }
  mpi_on_devices() = {};
}

BOOST_AUTO_TEST_SUITE_END()

/// The device of rank 1 fails at a copy, while MPI is tried or within the product; SMALL_DEVICE_BREAKS says when.
BOOST_AUTO_TEST_CASE(broken_device) {
  const Grid grid(MPI_COMM_WORLD, 1, 2, 1, 20.0);
  const auto a = Matrix<float>::random(24, 4 * 1024, Seed{1}), before = Matrix<float>::random(24, 24, Seed{2});
  DistributedMatrix<float> x(grid, 24, 4 * 1024), c(grid, 24, 24);
  take_own_part(a, x);
  take_own_part(before, c);
  mpi_on_devices().answer = 1;
  expect_error<DeviceError>(
      [&] {
        gemm(1.0F, x, x.transposed(), 1.0F, c,
             {.backend = Backend::Cuda, .device = world_rank(), .device_messages = true});
      },
      {"rank 1", "fell off the bus"});
  mpi_on_devices() = {};
  BOOST_TEST(differing_bits(before, c) == 0);
  Matrix<float> expected(24, 24);
  gemm(1.0F, a, a.transposed(), 0.0F, expected);
  gemm(1.0F, x, x.transposed(), 0.0F, c, {.backend = Backend::Reference, .threads = 1}); // nothing is left over
  BOOST_TEST(differing_bits(expected, c) == 0);
}

} // namespace tessera::test
