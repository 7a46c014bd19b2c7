/// Products of matrices that lie in blocks of rows on several executors: two small devices, and the backends of the
/// host. Each case runs in a process of its own.

#include <boost/test/unit_test.hpp>

#include <limits>
#include <vector>

#include <tessera/beyond_memory/row_blocks.hpp>

#include "small_device.hpp"
#include "support/expect.hpp"

using namespace tessera;
using tessera::test::device;
using tessera::test::Executors;
using tessera::test::expect_error;
using tessera::test::host_executors;
using tessera::test::use_small_device;

namespace {

std::vector<Executors> lists_of_blocks() {
  Executor& reference = executor(Backend::Reference);
  return {{&reference},
          {&device(1)},
          {&device(0), &device(1)},
          {&device(1), &reference, &device(0)},
          {&reference, &device(0)},
          host_executors()};
}

template <class T>
RowBlocks<T> on(const Executors& list, const Matrix<T>& whole) {
  RowBlocks<T> blocks(list, whole.rows(), whole.cols());
  blocks.assign(whole);
  return blocks;
}

template <class T, class R = T>
void every_list(Index m, Index n, Index k, Scalar<T> alpha, Scalar<T> beta) {
  const auto a = Matrix<T>::random(m, k, Seed{1}), b = Matrix<T>::random(k, n, Seed{2});
  const Matrix<R> before = beta == Scalar<T>{0} ? Matrix<R>(m, n, R(std::numeric_limits<float>::quiet_NaN()))
                                                : Matrix<R>::random(m, n, Seed{3});
  Matrix<R> expected = before;
  gemm(alpha, a, b, beta, expected, {.backend = Backend::Reference});
  for (const Executors& list : lists_of_blocks()) {
    const RowBlocks<T> on_a = on(list, a), on_b = on(list, b);
    RowBlocks<R> on_c = on(list, before);
    gemm(alpha, on_a, on_b, beta, on_c);
    BOOST_TEST((on_c.gathered() == expected), m << "×" << n << "×" << k << " on " << list.size() << " executors");
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(row_blocks)

BOOST_AUTO_TEST_CASE(the_bits_are_those_of_one_executor) {
  use_small_device();
  every_list<float>(70, 1300, 300, 1.0F, 0.0F);      // two strips
  every_list<float>(33, 3500, 51, -0.6875F, 0.375F); // four strips: buffers are used again
  every_list<double>(31, 40, 1500, 1.5, -1.0);
  every_list<bf16>(50, 90, 1100, 0.5F, 0.25F);
  every_list<bf16, float>(50, 90, 1100, 1.0F, 0.0F);
  every_list<float>(1, 5, 2, 1.0F, 1.0F); // executors without rows of A, and of B
  every_list<float>(5, 7, 0, 1.0F, 2.0F);
  every_list<float>(5, 7, 9, 0.0F, 0.5F);
  every_list<float>(0, 7, 9, 1.0F, 0.0F);
  every_list<float>(7, 0, 9, 1.0F, 0.0F);
}

/// A product's blocks are operands of the next one where they are: nothing is copied from the host again.
BOOST_AUTO_TEST_CASE(blocks_stay_where_they_are) {
  use_small_device();
  const Executors devices{&device(0), &device(1)};
  const auto a = Matrix<float>::random(40, 40, Seed{1});
  const RowBlocks<float> on_a = on(devices, a);
  RowBlocks<float> once(devices, 40, 40), twice(devices, 40, 40);
  gemm(1.0F, on_a, on_a, 0.0F, once);
  BOOST_TEST((once.block(1).operand().storage->newest_on() == &device(1)));
  gemm(1.0F, once, on_a, 0.0F, twice);
  BOOST_TEST((once.block(0).operand().storage->newest_on() == &device(0)));
  BOOST_TEST((twice.gathered() == gemm(gemm(a, a, Backend::Reference), a, Backend::Reference)));
  BOOST_TEST(once.first_row(1) == 20);
  Matrix<float> transposed(40, 40);
  once.copy_to(transposed.transposed());
  BOOST_TEST((transpose(transposed) == once.gathered()));
}

BOOST_AUTO_TEST_CASE(arguments_that_are_wrong) {
  use_small_device();
  const Executors devices{&device(0), &device(1)}, other{&device(1), &device(0)};
  RowBlocks<float> a(devices, 4, 6), b(devices, 6, 5), c(devices, 4, 5), square(devices, 4, 4), elsewhere(other, 6, 5);
  expect_error<InvalidArgument>([&] { gemm(1.0F, a, a, 0.0F, c); }, {"a is 4×6", "b is 4×6"});
  expect_error<InvalidArgument>([&] { gemm(1.0F, a, b, 0.0F, square); }, {"c is 4×4", "4×5"});
  expect_error<InvalidArgument>([&] { gemm(1.0F, a, elsewhere, 0.0F, c); }, {"b is on cuda:1", "c on cuda:0"});
  expect_error<InvalidArgument>([&] { gemm(1.0F, square, square, 0.0F, square); }, {"c is a"});
  expect_error<InvalidArgument>([&] { gemm(1.0F, a, b, 0.0F, c, {.backend = Backend::Tbb}); }, {"tbb"});
  expect_error<InvalidArgument>([&] { RowBlocks<float>(Executors{}, 1, 1); }, {"empty"});
  expect_error<InvalidArgument>([&] { RowBlocks<float>(Executors{&device(0), &device(0)}, 1, 1); }, {"twice"});
  expect_error<InvalidArgument>([&] { RowBlocks<float>(devices, -1, 1); }, {"-1×1", "negative"});
  expect_error<InvalidArgument>([&] { a.assign(Matrix<float>(3, 6)); }, {"assign", "3×6", "4×6"});
  Matrix<float> wrong(4, 7);
  expect_error<InvalidArgument>([&] { a.copy_to(wrong); }, {"copy_to", "4×7", "4×6"});
}

BOOST_AUTO_TEST_CASE(a_kernel_that_does_not_exist) {
  use_small_device();
  const Executors devices{&device(0), &device(1)};
  const auto x = Matrix<float>::random(40, 40, Seed{1});
  const RowBlocks<float> a = on(devices, x);
  RowBlocks<float> c = on(devices, x);
  expect_error<InvalidArgument>([&] { gemm(1.0F, a, a, 1.0F, c, {.kernel = "no_such_kernel"}); },
                                {"cuda:", "no_such_kernel"});
  BOOST_TEST((c.gathered() == x));
}

/// Strips of the usual width, 1024 columns of 400 k, do not fit beside the blocks.
BOOST_AUTO_TEST_CASE(narrow_strips_where_memory_is_short) { // SMALL_DEVICE is set
  use_small_device();
  const Executors devices{&device(0), &device(1)};
  const auto a = Matrix<float>::random(20, 400, Seed{1}), b = Matrix<float>::random(400, 1500, Seed{2});
  const RowBlocks<float> on_a = on(devices, a), on_b = on(devices, b);
  RowBlocks<float> c(devices, 20, 1500);
  gemm(1.0F, on_a, on_b, 0.0F, c);
  BOOST_TEST((c.gathered() == gemm(a, b, Backend::Reference)));
}

BOOST_AUTO_TEST_CASE(no_memory_for_strips) { // SMALL_DEVICE is set
  use_small_device();
  const Executors devices{&device(0), &device(1)};
  const auto a = Matrix<float>::random(20, 400, Seed{1}), b = Matrix<float>::random(400, 1500, Seed{2});
  const RowBlocks<float> on_a = on(devices, a), on_b = on(devices, b);
  const auto before = Matrix<float>::random(20, 1500, Seed{3});
  RowBlocks<float> c = on(devices, before);
  expect_error<OutOfMemory>([&] { gemm(1.0F, on_a, on_b, 1.0F, c); }, {"cuda:0 (small device)", "a strip of B"});
  BOOST_TEST((c.gathered() == before));
}

/// Device 1 fails at a copy from device 0, which goes by way of the host here.
BOOST_AUTO_TEST_CASE(a_device_that_breaks_is_named) { // SMALL_DEVICE_BREAKS is 1:3
  use_small_device();
  const Executors devices{&device(0), &device(1)};
  const auto x = Matrix<float>::random(30, 3000, Seed{1}), y = Matrix<float>::random(60, 30, Seed{2});
  const RowBlocks<float> a = on(devices, y), b = on(devices, x); // 2 copies to device 1
  RowBlocks<float> c(devices, 60, 3000);
  expect_error<DeviceError>([&] { gemm(1.0F, a, b, 0.0F, c); }, {"cuda:1 (small device)", "fell off the bus"});
}

BOOST_AUTO_TEST_SUITE_END()
