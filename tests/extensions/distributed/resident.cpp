/// Matrices whose elements stay on a device, which a plug-in of tests/system/plugin stands in for: bits, and what is
/// copied to the device and from it.

#include <array>
#include <complex>
#include <filesystem>
#include <random>

#include <boost/test/unit_test.hpp>

#include "copied_bytes.hpp"
#include "mpi_traffic.hpp"
#include "ranks.hpp"
#include "shared_folder.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

/// Ranks have a device each.
Residence own_device() { return Residence(Backend::Cuda, world_rank() % 2); }

template <class T>
void check_numbers(const Matrix<T>& expected, const DistributedMatrix<T>& x, const char* what) {
  BOOST_TEST(differing_bits(expected, x) == 0, what);
}

/// Copies the elements of a matrix that lies alike.
template <class T>
void copy_elements(const DistributedMatrix<T>& from, DistributedMatrix<T>& to) {
  std::copy_n(from.data(), from.local_rows() * from.local_cols(), to.data());
}

/// Draws a product and computes it with matrices on the host and on devices. Each rank keeps some on its device.
template <class T>
void check_random(std::mt19937_64& random) {
  const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<std::uint64_t>(n)); };
  constexpr std::array<std::array<int, 3>, 4> shapes{{{1, 2, 1}, {2, 1, 1}, {1, 1, 1}, {1, 1, 2}}};
  const auto& [rows, cols, layers] = shapes[static_cast<std::size_t>(below(4))];
  const Grid grid(MPI_COMM_WORLD, rows, cols, layers);
  const Index m = 1 + below(60), n = 1 + below(60), k = 1 + below(3 * 1024);
  const auto order = [&] { return below(2) == 0 ? LocalOrder::RowMajor : LocalOrder::ColumnMajor; };
  const auto blocks = [&] { return below(2) == 0 ? Blocks{} : Blocks{1 + below(70), below(2) == 0 ? 1024 : 30}; };
  const bool flip_a = below(3) == 0, flip_b = below(3) == 0;
  const Blocks of_a = blocks(), of_b = blocks(), of_c = blocks();
  const LocalOrder order_a = order(), order_b = order(), order_c = order();
  const Index mine = random() % 8; // which of the matrices stay on the device, of all ranks or of one
  const Index kept = below(3) == 0 && world_rank() == 1 ? 7 - mine : mine;
  const auto make = [&](int bit, Index r, Index c, Blocks b, LocalOrder o) {
    const Residence place = (kept >> bit & 1) != 0 ? own_device() : Residence(Backend::Reference);
    return DistributedMatrix<T>(grid, r, c, place, b, o);
  };
  const Index ar = flip_a ? k : m, ac = flip_a ? m : k, br = flip_b ? n : k, bc = flip_b ? k : n;
  DistributedMatrix<T> a(grid, ar, ac, of_a, order_a), b(grid, br, bc, of_b, order_b), c(grid, m, n, of_c, order_c);
  DistributedMatrix<T> x = make(0, ar, ac, of_a, order_a), y = make(1, br, bc, of_b, order_b),
                       z = make(2, m, n, of_c, order_c);
  take_own_part(Whole<T>::random(ar, ac, Seed{random()}), a);
  take_own_part(Whole<T>::random(br, bc, Seed{random()}), b);
  take_own_part(Whole<T>::random(m, n, Seed{random()}), c);
  copy_elements(a, x);
  copy_elements(b, y);
  copy_elements(c, z);
  const DistributedFactor<T> factors[]{0.0F, 1.0F, 0.5F};
  const auto alpha = factors[below(5) == 0 ? 0 : 1 + below(2)], beta = factors[below(3)];
  DistributedOptions options{.backend = Backend::Reference, .engine = "summa", .threads = 1};
  const auto multiply = [&](const auto& left, const auto& right, auto& result) {
    if (flip_a && flip_b) return gemm(alpha, left.transposed(), right.transposed(), beta, result, options);
    if (flip_a) return gemm(alpha, left.transposed(), right, beta, result, options);
    if (flip_b) return gemm(alpha, left, right.transposed(), beta, result, options);
    return gemm(alpha, left, right, beta, result, options);
  };
  multiply(a, b, c);
  if (below(4) > 0) { // else the reference multiplies, which has none of the elements
    options.backend = below(2) == 0 ? Backend::Auto : Backend::Cuda;
    if (options.backend == Backend::Cuda && below(2) == 0) options.device = world_rank() % 2;
  }
  options.device_messages = below(4) == 0;
  mpi_on_devices().answer = 1;
  const DistributedReport report = multiply(x, y, z);
  mpi_on_devices() = {};
  BOOST_TEST(report.bytes_received == report.bytes_expected);
  BOOST_TEST(report.allocated_bytes == report.planned_bytes);
  BOOST_TEST(differing_elements(c, z) == 0,
             m << "×" << n << "×" << k << " on " << rows << "×" << cols << "×" << layers << ", kept " << kept);
  BOOST_TEST(differing_elements(a, x) == 0);
  BOOST_TEST(differing_elements(b, y) == 0);
}

} // namespace

BOOST_AUTO_TEST_SUITE(resident)

/// A chain of products crosses to the host and back as far as MPI sends panels, and no further.
BOOST_AUTO_TEST_CASE(a_chain_copies_what_is_sent) {
  constexpr Index n = 2 * 1024, rows = 40;
  const auto whole_x = Matrix<float>::random(rows, n, Seed{1}), whole_y = Matrix<float>::random(n, n, Seed{2}),
             whole_z = Matrix<float>::random(n, 48, Seed{3});
  const Matrix<float> product = gemm(whole_x, whole_y, Backend::Reference);
  Matrix<float> expected(rows, 48, 1.0F);
  gemm(0.5F, product, whole_z, 2.0F, expected, {.backend = Backend::Reference});
  for (const auto& [p, q] : {std::array{1, 2}, std::array{2, 1}, std::array{1, 1}}) {
    const Grid grid(MPI_COMM_WORLD, p, q);
    DistributedMatrix<float> x(grid, rows, n, own_device(), {0, 1024}), y(grid, n, n, own_device(), {1024, 1024}),
        z(grid, n, 48, own_device(), {1024, 0}), xy(grid, rows, n, own_device(), {0, 1024}),
        xyz(grid, rows, 48, own_device());
    take_own_part(whole_x, x);
    take_own_part(whole_y, y);
    take_own_part(whole_z, z);
    gemm(1.0F, x, y, 0.0F, xy); // brings the operands to the devices
    gemm(1.0F, xy, z, 0.0F, xyz);
    take_own_part(Matrix<float>(rows, 48, 1.0F), xyz);
    DistributedReport first, second;
    const std::uint64_t of_c = static_cast<std::uint64_t>(xyz.local_rows() * xyz.local_cols()) * sizeof(float);
    {
      const CopiedBytes copied;
      first = gemm(1.0F, x, y, 0.0F, xy);
      second = gemm(0.5F, xy, z, 2.0F, xyz);
      BOOST_TEST_CONTEXT(p << "×" << q) {
        BOOST_TEST(copied.in() == first.bytes_received + second.bytes_received + of_c); // C was written on the host
        BOOST_TEST(copied.out() == first.bytes_sent + second.bytes_sent);
        BOOST_TEST(first.bytes_received == first.bytes_expected);
      }
    }
    const CopiedBytes copied;
    check_numbers(product, xy, "the first product");
    check_numbers(expected, xyz, "the second product");
    const std::uint64_t of_xy = static_cast<std::uint64_t>(xy.local_rows() * xy.local_cols()) * sizeof(float);
    BOOST_TEST(copied.out() == of_xy + of_c); // once, though each element was asked for
    BOOST_TEST(copied.in() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(random_products) {
  std::mt19937_64 random(11);
  for (int i = 0, cases = number_of("DISTRIBUTED_CASES", 40); i < cases; ++i) {
    check_random<float>(random);
    if (i % 4 == 0) check_random<double>(random);
    if (i % 4 == 1) check_random<bf16>(random);
    if (i % 4 == 2) check_random<std::complex<float>>(random);
  }
}

/// Operands stay on a device that has no memory left for the sums: the operands are not copied, and the sums go through
/// the device in blocks, twice, because there are two groups of segments.
BOOST_AUTO_TEST_CASE(sums_are_copied_in_blocks) {
  constexpr Index m = 200, n = 190, k = 9 * 1024 + 300;
  const Grid grid(MPI_COMM_WORLD, 1, 1);
  DistributedMatrix<float> a(grid, m, k, own_device()), b(grid, k, n, own_device()), c(grid, m, n);
  const auto whole_a = Matrix<float>::random(m, k, Seed{1}), whole_b = Matrix<float>::random(k, n, Seed{2});
  take_own_part(whole_a, a);
  take_own_part(whole_b, b);
  const Matrix<float> expected = gemm(whole_a, whole_b, Backend::Reference);
  gemm(1.0F, a, b, 0.0F, c); // brings the operands to the device
  const LittleMemory little(120 << 10);
  const CopiedBytes copied;
  const DistributedReport report = gemm(1.0F, a, b, 0.0F, c);
  check_numbers(expected, c, "in blocks");
  const std::uint64_t of_c = static_cast<std::uint64_t>(c.local_rows() * c.local_cols()) * sizeof(float);
  BOOST_TEST(copied.in() == of_c);
  BOOST_TEST(copied.out() == 2 * of_c);
  BOOST_TEST(report.allocated_bytes == report.planned_bytes);
}

/// Functions that work on the host find the newest elements there, and products find what they wrote.
BOOST_AUTO_TEST_CASE(copies_and_files) {
  const SharedFolder folder;
  const Grid grid(MPI_COMM_WORLD, 1, 2);
  const auto whole = Matrix<float>::random(50, 50, Seed{4});
  const Matrix<float> square = gemm(whole, whole, Backend::Reference);
  DistributedMatrix<float> x(grid, 50, 50, own_device()), xx(grid, 50, 50, own_device()),
      other(grid, 50, 50, own_device(), {3, 7}, LocalOrder::ColumnMajor);
  x.scatter(whole, 0);
  gemm(1.0F, x, x, 0.0F, xx);
  xx.redistribute(other);
  check_numbers(square, other, "redistributed");
  gemm(1.0F, x, x, 0.0F, xx);
  const Matrix<float> gathered = xx.gather(1);
  if (world_rank() == 1) BOOST_TEST(detail::equal(gathered.view().operand(), square.view().operand()));
  gemm(1.0F, x, x, 0.0F, other);
  other.save_npy(folder / "square.npy");
  check_numbers(square, DistributedMatrix<float>::load_npy(grid, folder / "square.npy"), "from a file");
  other.scatter(whole, 1);
  gemm(1.0F, other, x, 0.0F, xx);
  check_numbers(square, xx, "after a scatter");
}

BOOST_AUTO_TEST_CASE(refusals) {
  const Grid grid(MPI_COMM_WORLD, 1, 2);
  const auto make = [&](Index rows, Residence where) { DistributedMatrix<float>(grid, rows, 100, where); };
  if (world_rank() == 1) setenv("SMALL_DEVICE_NO_HOST", "1", 1);
  expect_error<OutOfMemory>([&] { make(100, own_device()); }, {"rank 1", "small device has no host memory"});
  unsetenv("SMALL_DEVICE_NO_HOST");
  expect_error<OutOfMemory>([&] { make(1000000, own_device()); }, {"small device is full"});
  expect_error<BackendUnavailable>([&] { make(100, Residence(Backend::Cuda, world_rank() == 1 ? 2 : 0)); },
                                   {"rank 1", "device 2"});
  make(100, own_device());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
