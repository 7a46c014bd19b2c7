/// One rank alone is short of memory: each allocation of the library on rank 1 fails once, and once with all after it.
/// Every rank must end with the same outcome, and the grid must go on working.

#include <array>
#include <filesystem>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/distributed/tessera_distributed.h>

#include "ranks.hpp"
#include "shared_folder.hpp"
#include "system/memory/shortage.hpp"

namespace tessera::test {
namespace {

using memory_test::Lasting;

constexpr int short_rank = 1;

/// How a call ended on a rank.
enum Outcome : int { Succeeded, MemoryWasShort, Failed };

template <class Call>
Outcome outcome_of(Call&& call) try {
  call();
  return Succeeded;
} catch (const OutOfMemory&) {
  return MemoryWasShort;
} catch (const Error&) {
  return Failed;
}

/// The least and the largest outcome of all ranks.
struct Outcomes {
  int least, largest;
};
Outcomes of_all_ranks(Outcome mine) {
  std::array<int, 2> both{-mine, mine};
  MPI_Allreduce(MPI_IN_PLACE, both.data(), 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return {-both[0], both[1]};
}

/// Calls until no allocation of rank 1 is left that could fail. `check` looks at what a call that succeeded left.
template <class Call, class Check>
void fail_each_allocation(Call&& call, Check&& check) {
  memory_test::only_in("libtessera");
  call(); // what is found or made once, such as a backend, is there afterwards
  for (const Lasting lasting : {Lasting::No, Lasting::Yes}) {
    long number = 1, short_calls = 0;
    for (int failed = 1; failed != 0; ++number) {
      if (world_rank() == short_rank) memory_test::arm(number, lasting);
      const Outcome mine = outcome_of(call);
      failed = memory_test::disarm().failed ? 1 : 0;
      MPI_Bcast(&failed, 1, MPI_INT, short_rank, MPI_COMM_WORLD);
      const Outcomes outcomes = of_all_ranks(mine);
      BOOST_TEST_REQUIRE(outcomes.least == outcomes.largest,
                         "allocation " << number << (lasting == Lasting::Yes ? " and all after it" : "")
                                       << ": one rank ended with " << outcomes.least << ", another one with "
                                       << outcomes.largest);
      if (mine == Succeeded) check();
      if (mine != Succeeded) ++short_calls;
      if (failed == 0) BOOST_TEST(mine == Succeeded);
    }
    BOOST_TEST(short_calls > 0);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(shortage)

/// Where the operands of a product lie.
struct Lying {
  Blocks blocks_of_b = {};
  int rows = 2, cols = 2, layers = 1;
  bool device_messages = false;
  Backend other = Backend::Reference; ///< multiplies in turn with the reference, so that MPI is tried anew each time
};

template <class T>
void check_product(Scalar<T> beta, const Lying& lying = {}) {
  const Grid grid(MPI_COMM_WORLD, lying.rows, lying.cols, lying.layers, 3.0);
  const auto whole_a = Matrix<T>::random(40, 1100, Seed{1}), whole_b = Matrix<T>::random(1100, 30, Seed{2});
  const auto before = Matrix<T>::random(40, 30, Seed{3});
  Matrix<T> expected = before;
  gemm(Scalar<T>(1), whole_a, whole_b, beta, expected, {.backend = Backend::Reference});
  DistributedMatrix<T> a(grid, 40, 1100), b(grid, 1100, 30, lying.blocks_of_b), c(grid, 40, 30);
  take_own_part(whole_a, a);
  take_own_part(whole_b, b);
  DistributedOptions options{.backend = Backend::Reference, .threads = 1, .device_messages = lying.device_messages};
  fail_each_allocation(
      [&] {
        take_own_part(before, c);
        options.backend = options.backend == Backend::Reference ? lying.other : Backend::Reference;
        gemm(Scalar<T>(1), a, b, beta, c, options);
      },
      [&] { BOOST_TEST(differing_bits(expected, c) == 0); });
}

BOOST_AUTO_TEST_CASE(of_a_product) { check_product<double>(1.0); }
BOOST_AUTO_TEST_CASE(of_a_product_of_16_bits) { check_product<bf16>(0.5F); }
BOOST_AUTO_TEST_CASE(of_a_product_whose_operands_move) {
  check_product<double>(1.0, {.blocks_of_b = {7, 5}});
  check_product<double>(0.0, {.rows = 1, .layers = 2});
}
BOOST_AUTO_TEST_CASE(of_a_product_with_panels_in_the_memory_of_backends) {
  check_product<double>(0.0, {.blocks_of_b = {24, 0}, .device_messages = true});
  for (const BackendInfo& info : available_backends())
    if (info.available && info.backend == Backend::OpenMP)
      check_product<double>(0.0, {.device_messages = true, .other = info.backend});
}

BOOST_AUTO_TEST_CASE(of_a_product_by_the_c_interface) {
  const MPI_Comm world = MPI_COMM_WORLD;
  tessera_grid* grid = nullptr;
  BOOST_TEST_REQUIRE(tessera_grid_create(&world, sizeof world, 2, 2, 1, 3.0, &grid) == TESSERA_OK);
  const std::vector<double> a(64, 1.0);
  std::vector<double> c(64);
  const int desc[9] = {1, 0, 16, 16, 8, 8, 0, 0, 8};
  tessera_pgemm_options options = tessera_default_pgemm_options();
  options.backend = TESSERA_REFERENCE;
  fail_each_allocation(
      [&] {
        const tessera_status status = tessera_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, a.data(), desc,
                                                    a.data(), desc, 0, c.data(), desc, &options);
        if (status == TESSERA_OUT_OF_MEMORY) throw OutOfMemory("short");
        if (status != TESSERA_OK) throw InvalidArgument("no error of memory");
      },
      [&] { BOOST_TEST(c == std::vector<double>(64, 16.0)); });
  tessera_grid_destroy(grid);
}

/// Elements move between ranks and whole matrices, and to another distribution.
BOOST_AUTO_TEST_CASE(of_copies) {
  const Grid square(MPI_COMM_WORLD, 2, 2, 1, 3.0), line(MPI_COMM_WORLD, 1, 3, 1, 3.0);
  constexpr Index rows = 33, cols = 21;
  const auto whole = Matrix<double>::random(rows, cols, Seed{4});
  Matrix<double> back;
  DistributedMatrix<double> x(square, rows, cols, {4, 3}), y(line, rows, cols, {7, 2}, LocalOrder::ColumnMajor);
  const auto has_all = [&](const DistributedMatrix<double>& to) { BOOST_TEST(differing_bits(whole, to) == 0); };
  for (const int root : {0, short_rank}) {
    fail_each_allocation([&] { x.scatter(whole, root); }, [&] { has_all(x); });
    fail_each_allocation([&] { back = y.gather(root); }, [] {});
  }
  fail_each_allocation([&] { x.redistribute(y); }, [&] { has_all(y); });
  back = y.gather(0);
  if (world_rank() == 0) BOOST_TEST(detail::equal(back.view().operand(), whole.view().operand()));
}

BOOST_AUTO_TEST_CASE(of_files) {
  const SharedFolder folder;
  const std::filesystem::path path = folder / "x.npy";
  const Grid grid(MPI_COMM_WORLD, 2, 2, 1, 3.0);
  const auto whole = Matrix<float>::random(20, 14, Seed{5});
  DistributedMatrix<float> x(grid, 20, 14, {3, 4});
  take_own_part(whole, x);
  fail_each_allocation([&] { x.save_npy(path); }, [] {});
  fail_each_allocation(
      [&] {
        const auto y = DistributedMatrix<float>::load_npy(grid, path, {5, 2});
        const memory_test::Uncounted checks;
        BOOST_TEST(differing_bits(whole, y) == 0);
      },
      [] {});
}

BOOST_AUTO_TEST_CASE(of_a_matrix) {
  const Grid grid(MPI_COMM_WORLD, 2, 2, 1, 3.0);
  fail_each_allocation([&] { DistributedMatrix<float>(grid, 50, 40); }, [] {});
  std::vector<float> memory(32 * 32);
  fail_each_allocation(
      [&] {
        DistributedMatrix<float>::wrap(grid, {1, 0, 64, 32, 8, 8, 0, 0, 32}, memory.data());
      },
      [] {});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(shortage_on_devices)

/// Matrices stay on devices, which a plug-in of tests/system/plugin stands in for; two ranks run this case.
BOOST_AUTO_TEST_CASE(of_matrices_and_a_product) {
  const Grid grid(MPI_COMM_WORLD, 1, 2, 1, 3.0);
  const Residence device(Backend::Cuda, world_rank() % 2);
  fail_each_allocation([&] { DistributedMatrix<float>(grid, 50, 40, device); }, [] {});
  const auto whole_a = Matrix<float>::random(40, 2100, Seed{1}), whole_b = Matrix<float>::random(2100, 30, Seed{2});
  const auto before = Matrix<float>::random(40, 30, Seed{3});
  Matrix<float> expected = before;
  gemm(1.0F, whole_a, whole_b, 0.5F, expected, {.backend = Backend::Reference});
  DistributedMatrix<float> a(grid, 40, 2100, device, {0, 1024}), b(grid, 2100, 30, device), c(grid, 40, 30, device);
  take_own_part(whole_a, a);
  take_own_part(whole_b, b);
  fail_each_allocation(
      [&] {
        take_own_part(before, c);
        gemm(1.0F, a, b, 0.5F, c);
      },
      [&] { BOOST_TEST(differing_bits(expected, c) == 0); });
}

BOOST_AUTO_TEST_CASE(of_matrices_by_the_c_interface) {
  const MPI_Comm world = MPI_COMM_WORLD;
  tessera_grid* grid = nullptr;
  BOOST_TEST_REQUIRE(tessera_grid_create(&world, sizeof world, 1, 2, 1, 3.0, &grid) == TESSERA_OK);
  tessera_pmatrix_options options = tessera_default_pmatrix_options();
  options.backend = TESSERA_CUDA;
  options.device = world_rank() % 2;
  const double one = 1, zero = 0;
  const std::vector<double> ones(16 * 16, 1.0);
  const auto succeed = [](tessera_status status) {
    if (status == TESSERA_OUT_OF_MEMORY) throw OutOfMemory("short");
    if (status != TESSERA_OK) throw InvalidArgument("no error of memory");
  };
  fail_each_allocation(
      [&] {
        tessera_pmatrix* x = nullptr;
        const tessera_status status = tessera_pmatrix_create(grid, TESSERA_F64, 0, 16, 16, 0, 0, &options, &x);
        tessera_pmatrix_destroy(x);
        succeed(status);
      },
      [] {});
  tessera_pmatrix *x = nullptr, *c = nullptr;
  for (tessera_pmatrix** made : {&x, &c})
    succeed(tessera_pmatrix_create(grid, TESSERA_F64, 0, 16, 16, 0, 0, &options, made));
  fail_each_allocation(
      [&] {
        succeed(tessera_pmatrix_scatter(x, ones.data(), 16, short_rank));
        succeed(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_TRANSPOSE, &one, x, x, &zero, c, nullptr));
      },
      [&] {
        const void* data = nullptr;
        succeed(tessera_pmatrix_read(c, &data, nullptr));
        BOOST_TEST(*static_cast<const double*>(data) == 16.0);
      });
  tessera_pmatrix_destroy(x);
  tessera_pmatrix_destroy(c);
  tessera_grid_destroy(grid);
}

/// Most of the devices' memory is in use, so that the sums go through it in blocks, in two groups of segments.
BOOST_AUTO_TEST_CASE(of_a_product_in_blocks) {
  const Grid grid(MPI_COMM_WORLD, 1, 2, 1, 3.0);
  constexpr Index m = 66, n = 132, k = 8 * 1024 + 100;
  const LittleMemory little(2 << 20);
  const auto whole_a = Matrix<float>::random(m, k, Seed{1}), whole_b = Matrix<float>::random(k, n, Seed{2});
  const Matrix<float> before(m, n, 1.0F);
  Matrix<float> expected = before;
  gemm(1.0F, whole_a, whole_b, 0.5F, expected, {.backend = Backend::Reference});
  DistributedMatrix<float> a(grid, m, k, {0, 1024}), b(grid, k, n), c(grid, m, n);
  take_own_part(whole_a, a);
  take_own_part(whole_b, b);
  fail_each_allocation(
      [&] {
        take_own_part(before, c);
        gemm(1.0F, a, b, 0.5F, c, {.backend = Backend::Cuda, .device = world_rank() % 2});
      },
      [&] { BOOST_TEST(differing_bits(expected, c) == 0); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
