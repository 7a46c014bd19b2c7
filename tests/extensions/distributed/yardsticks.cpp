/// The engines that call NVIDIA's libraries: they run by name only, where the libraries are there. fake_vendor.cpp
/// stands in for these, and the plug-in of tests/system/plugin for a GPU.

#include <boost/test/unit_test.hpp>

#include "ranks.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

const DistributedOptions on_gpu_1{.backend = Backend::Cuda, .device = 1};

DistributedOptions by(const char* engine) {
  DistributedOptions options = on_gpu_1;
  options.engine = engine;
  return options;
}

/// Multiplies whole numbers, whose sums are exact in any order, on one rank.
template <class T>
void check(const char* engine, bool transpose_a, bool transpose_b, LocalOrder order) {
  constexpr Index m = 57, n = 43, k = 130;
  const auto numbers = [](Index rows, Index cols, std::uint64_t seed) {
    return Matrix<T>::random(rows, cols, Seed{seed}, Distribution::Integers, -9, 9);
  };
  const Matrix<T> a = transpose_a ? numbers(k, m, 1) : numbers(m, k, 1);
  const Matrix<T> b = transpose_b ? numbers(n, k, 2) : numbers(k, n, 2);
  Matrix<T> expected = numbers(m, n, 3);
  const Matrix<T> before = expected;
  gemm(T{2}, transpose_a ? a.transposed() : a.view(), transpose_b ? b.transposed() : b.view(), T{3}, expected,
       {.backend = Backend::Reference});
  const Grid grid(MPI_COMM_WORLD, 1, 1);
  DistributedMatrix<T> on_a(grid, a.rows(), a.cols(), {}, order), on_b(grid, b.rows(), b.cols(), {}, order);
  DistributedMatrix<T> on_c(grid, m, n, {}, order);
  take_own_part(a, on_a);
  take_own_part(b, on_b);
  take_own_part(before, on_c);
  const DistributedReport report = gemm(T{2}, transpose_a ? on_a.transposed() : on_a.view(),
                                        transpose_b ? on_b.transposed() : on_b.view(), T{3}, on_c, by(engine));
  BOOST_TEST(report.engine == engine);
  BOOST_TEST(differing_bits(expected, on_c) == 0, engine << " " << transpose_a << transpose_b);
}

} // namespace

BOOST_AUTO_TEST_SUITE(yardsticks)

BOOST_AUTO_TEST_CASE(products_of_whole_numbers) {
  for (const char* engine : {"cublasmp", "cublasxt"})
    for (const LocalOrder order : {LocalOrder::RowMajor, LocalOrder::ColumnMajor})
      for (const bool transpose_a : {false, true})
        for (const bool transpose_b : {false, true}) {
          check<float>(engine, transpose_a, transpose_b, order);
          check<double>(engine, transpose_a, transpose_b, order);
        }
}

BOOST_AUTO_TEST_CASE(they_are_never_chosen) {
  const Grid grid(MPI_COMM_WORLD, 1, 1);
  DistributedMatrix<float> a(grid, 20, 20), c(grid, 20, 20);
  std::fill_n(a.data(), 20 * a.ld(), 1.0F);
  BOOST_TEST(gemm(1.0F, a, a, 0.0F, c, on_gpu_1).engine == "summa");
  for (const DistributedEngine& engine : distributed_engines())
    BOOST_TEST(engine.canonical == (engine.name == "summa" || engine.name == "pblas"), engine.name);
}

BOOST_AUTO_TEST_CASE(what_they_do_not_take) {
  const Grid grid(MPI_COMM_WORLD, 1, 1);
  DistributedMatrix<float> a(grid, 20, 20), c(grid, 20, 20);
  DistributedMatrix<bf16> narrow(grid, 20, 20), narrow_c(grid, 20, 20);
  for (const char* engine : {"cublasmp", "cublasxt"}) {
    expect_error<KernelRejected>([&] { gemm(1.0F, a, a, 0.0F, c, {.engine = engine}); }, {engine, "backend cuda"});
    expect_error<KernelRejected>([&] { gemm(1.0F, narrow, narrow, 0.0F, narrow_c, by(engine)); }, {engine, "f32"});
  }
}

/// The advice about blocks would lead nowhere where no GPU is asked for.
BOOST_AUTO_TEST_CASE(what_the_machine_lacks_is_said_first) {
  const Grid grid(MPI_COMM_WORLD, 1, 1);
  DistributedMatrix<float> a(grid, 20, 20, Blocks{4, 8}), b(grid, 20, 20, Blocks{5, 5}), c(grid, 20, 20, Blocks{4, 5});
  expect_error<KernelRejected>([&] { gemm(1.0F, a, b, 0.0F, c, {.engine = "cublasmp"}); },
                               {"cublasmp", "NVIDIA GPUs, one for each rank", "name the backend cuda"});
  expect_error<KernelRejected>([&] { gemm(1.0F, a, b, 0.0F, c, by("cublasmp")); },
                               {"cublasmp", "equal blocks along k", "a has blocks of 8, b of 5", "--block"});
}

BOOST_AUTO_TEST_SUITE_END()

/// The libraries are not there.
BOOST_AUTO_TEST_SUITE(yardsticks_without_libraries)

BOOST_AUTO_TEST_CASE(they_say_what_is_missing) {
  const Grid grid(MPI_COMM_WORLD, 1, 1);
  DistributedMatrix<float> a(grid, 20, 20), c(grid, 20, 20);
  expect_error<KernelRejected>([&] { gemm(1.0F, a, a, 0.0F, c, by("cublasmp")); },
                               {"cublasmp", "was found", "LD_LIBRARY_PATH"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
