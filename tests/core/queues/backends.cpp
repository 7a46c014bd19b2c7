/// Products and copies in queues of the tested backend: the bits are the ones that functions without a queue give.

#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/queue.hpp>
#include <tessera/tessera.hpp>

#include "support/expect.hpp"
#include "support/tested_backend.hpp"

using namespace tessera;
using tessera::test::expect_error;
using tessera::test::tested_backend;

namespace {

Executor& tested() { return executor(tested_backend()); }

/// Returns a pinned copy of a matrix.
Matrix<float> pinned(const Matrix<float>& x) {
  auto copy_of_x = Matrix<float>::pinned(x.rows(), x.cols(), tested());
  copy_of_x.writable().assign(x.view());
  return copy_of_x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(backends)

BOOST_AUTO_TEST_CASE(a_product_and_its_copies) {
  const auto x = Matrix<float>::random(190, 70, Seed{1}), y = Matrix<float>::random(70, 130, Seed{2});
  const Matrix expected = gemm(x, y, Backend::Reference);
  for (const bool pins : {true, false}) {
    ExecutionQueue queue(tested_backend());
    const Matrix<float> a = pins ? pinned(x) : Matrix<float>(x), b = pins ? pinned(y) : Matrix<float>(y);
    Matrix<float> c = pins ? Matrix<float>::pinned(190, 130, tested()) : Matrix<float>(190, 130);
    prefetch(a, queue);
    prefetch(b, queue);
    gemm(queue, 1.0f, a, b, 0.0f, c);
    prefetch_to_host(c, queue);
    BOOST_TEST(c == expected);
    gemm(queue, 2.0f, a, b, 1.0f, c); // c := 3ab
    queue.finish();
    Matrix<float> twice = gemm(x, y, Backend::Reference);
    gemm(2.0f, x, y, 1.0f, twice, {.backend = Backend::Reference});
    BOOST_TEST(c == twice);
  }
}

BOOST_AUTO_TEST_CASE(copies_of_blocks_types_and_transposes) {
  const auto x = Matrix<float>::random(40, 30, Seed{3});
  const Matrix<float> source = pinned(x);
  ExecutionQueue queue(tested_backend());
  Matrix<float> on_device(40, 30), part(10, 12, 7.0f), turned(30, 40), back(40, 30, 0.0f);
  Matrix<bf16> half(40, 30);
  copy(on_device, source, queue);                                   // host → device
  copy(part.block(1, 2, 5, 6), on_device.block(3, 4, 5, 6), queue); // within the device
  copy(turned, on_device.transposed(), queue);
  copy(half, on_device, queue);
  copy_to_host(back.block(2, 3, 20, 20), on_device.block(5, 5, 20, 20), queue); // device → host
  BOOST_TEST(on_device == x);
  for (Index i = 0; i < 10; ++i)
    for (Index j = 0; j < 12; ++j) {
      const bool inside = i >= 1 && i < 6 && j >= 2 && j < 8;
      BOOST_TEST(part.at(i, j) == (inside ? x.at(i + 2, j + 2) : 7.0f));
    }
  BOOST_TEST(turned == transpose(x));
  BOOST_TEST(half == matrix_cast<bf16>(x));
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 30; ++j) {
      const bool inside = i >= 2 && i < 22 && j >= 3 && j < 23;
      BOOST_TEST(back.at(i, j) == (inside ? x.at(i + 3, j + 2) : 0.0f));
    }
  queue.finish();
}

BOOST_AUTO_TEST_CASE(copies_to_the_host_convert_and_transpose) {
  const auto x = Matrix<float>::random(17, 23, Seed{4});
  ExecutionQueue queue(tested_backend());
  Matrix<float> on_device(17, 23);
  copy(on_device, x, queue);
  Matrix<float> turned(23, 17), from_host(17, 23);
  Matrix<double> wide(17, 23);
  copy_to_host(turned, on_device.transposed(), queue);
  copy_to_host(wide, on_device, queue);
  copy_to_host(from_host, x, queue); // was on the host
  BOOST_TEST(turned == transpose(x));
  BOOST_TEST(wide == matrix_cast<double>(x));
  BOOST_TEST(from_host == x);
  BOOST_TEST(turned.newest_on() == nullptr);
}

BOOST_AUTO_TEST_CASE(overlapping_parts_of_one_matrix) {
  auto x = Matrix<float>::random(20, 20, Seed{5});
  const Matrix<float> before = x;
  ExecutionQueue queue(tested_backend());
  copy(x.block(1, 1, 10, 10), x.block(0, 0, 10, 10), queue);
  for (Index i = 0; i < 10; ++i)
    for (Index j = 0; j < 10; ++j) BOOST_TEST(x.at(i + 1, j + 1) == before.at(i, j));
}

BOOST_AUTO_TEST_CASE(queues_and_functions_without_one_take_turns) {
  const auto x = Matrix<float>::random(64, 64, Seed{6}), y = Matrix<float>::random(64, 64, Seed{7});
  ExecutionQueue first(tested_backend()), second(tested_backend());
  Matrix<float> c(64, 64), d(64, 64);
  gemm(first, 1.0f, x, y, 0.0f, c);
  gemm(second, 1.0f, c, y, 0.0f, d);             // after the first queue's product
  const Matrix e = gemm(d, c, tested_backend()); // after both
  gemm(first, 1.0f, e, e, 0.0f, c);              // overwrites what the second queue reads
  const Matrix c0 = gemm(x, y, Backend::Reference), d0 = gemm(c0, y, Backend::Reference);
  const Matrix e0 = gemm(d0, c0, Backend::Reference), c1 = gemm(e0, e0, Backend::Reference);
  BOOST_TEST(d == d0);
  BOOST_TEST(e == e0);
  BOOST_TEST(c == c1);
}

BOOST_AUTO_TEST_CASE(results_in_the_callers_memory) {
  const auto x = Matrix<float>::random(9, 9, Seed{8});
  std::vector<float> memory(9 * 12, -1.0f);
  ExecutionQueue queue(tested_backend());
  {
    auto view = MatrixView<float>::wrap(memory.data(), 9, 9, 12);
    gemm(queue, 1.0f, x, x, 0.0f, view);
  } // the last copy of the view brings the result
  const Matrix expected = gemm(x, x, Backend::Reference);
  for (Index i = 0; i < 9; ++i)
    for (Index j = 0; j < 9; ++j) BOOST_TEST(memory[static_cast<std::size_t>(i * 12 + j)] == expected.at(i, j));
  BOOST_TEST(memory[9] == -1.0f);
}

BOOST_AUTO_TEST_CASE(matrices_end_before_their_work) {
  const auto x = Matrix<float>::random(300, 300, Seed{9});
  const Matrix expected = gemm(x, x, Backend::Reference);
  ExecutionQueue queue(tested_backend());
  for (int i = 0; i < 20; ++i) {
    Matrix<float> c(300, 300);
    {
      const Matrix<float> a = pinned(x);
      gemm(queue, 1.0f, a, a, 0.0f, c);
    }
    Matrix<float> copied = Matrix<float>::pinned(300, 300, tested());
    copy_to_host(copied, c, queue);
    c = Matrix<float>();
    BOOST_TEST(copied == expected);
    const Matrix<float> ends_at_once = pinned(x);
    prefetch(ends_at_once, queue);
  }
}

BOOST_AUTO_TEST_CASE(writing_waits_for_copies_that_read) {
  ExecutionQueue queue(tested_backend());
  Matrix<float> source = Matrix<float>::pinned(500, 500, tested());
  Matrix<float> last(500, 500);
  for (int round = 0; round < 20; ++round) {
    for (Index i = 0; i < 500; ++i)
      for (float& element : source.row(i)) element = static_cast<float>(round);
    copy(last, source, queue);
  }
  BOOST_TEST(last.at(0, 0) == 19.0f);
  BOOST_TEST(last.at(499, 499) == 19.0f);
}

BOOST_AUTO_TEST_CASE(mistakes_are_thrown_at_once) {
  ExecutionQueue queue(tested_backend());
  const Matrix<float> a(2, 3, 1.0f), b(4, 5, 1.0f);
  Matrix<float> c(2, 5, 9.0f);
  expect_error<InvalidArgument>([&] { gemm(queue, 1.0f, a, b, 0.0f, c); }, {"3 ≠ 4"});
  expect_error<InvalidArgument>([&] { copy(c, a, queue); }, {"2×5", "2×3"});
  expect_error<InvalidArgument>([&] { copy_to_host(c, a, queue); }, {"copy_to_host", "2×5", "2×3"});
  const Backend other = tested_backend() == Backend::Reference ? Backend::OpenMP : Backend::Reference;
  const Matrix<float> d(3, 5, 1.0f);
  expect_error<InvalidArgument>([&] { gemm(queue, 1.0f, a, d, 0.0f, c, {.backend = other}); },
                                {to_string(other), to_string(tested_backend())});
  expect_error<InvalidArgument>([&] { gemm(queue, 1.0f, a, d, 0.0f, c, {.kernel = "no such kernel"}); },
                                {"no such kernel"});
  BOOST_TEST(c.at(1, 4) == 9.0f);
  queue.finish();
  gemm(queue, 1.0f, a, d, 0.0f, c);
  BOOST_TEST(c.at(1, 4) == 3.0f);
}

BOOST_AUTO_TEST_CASE(empty_matrices) {
  ExecutionQueue queue(tested_backend());
  const Matrix<float> a(0, 3), b(3, 0), c(2, 0);
  Matrix<float> d(0, 0), e(2, 3, 5.0f);
  gemm(queue, 1.0f, a, b, 0.0f, d);
  gemm(queue, 1.0f, c, a, 0.0f, e); // k = 0
  prefetch(a, queue);
  prefetch_to_host(d, queue);
  BOOST_TEST(e.at(1, 2) == 0.0f);
}

BOOST_AUTO_TEST_CASE(threads_with_a_queue_each) {
  const auto x = Matrix<float>::random(80, 80, Seed{10});
  const Matrix expected = gemm(x, x, Backend::Reference);
  std::vector<std::thread> threads;
  std::vector<char> right(4, 0);
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      bool all = true;
      for (int i = 0; i < 10; ++i) {
        ExecutionQueue queue(tested_backend());
        Matrix<float> c(80, 80);
        gemm(queue, 1.0f, x, x, 0.0f, c); // all read one matrix
        all = all && c == expected;
      }
      right[t] = all;
    });
  for (std::thread& thread : threads) thread.join();
  for (const char one : right) BOOST_TEST(one == 1);
}

BOOST_AUTO_TEST_CASE(an_event_orders_queues) {
  std::unique_ptr<Queue> first, second;
  std::unique_ptr<Event> event;
  throw_if_failed(tested().create_queue(first));
  throw_if_failed(tested().create_queue(second));
  throw_if_failed(tested().create_event(event));
  throw_if_failed(event->record(*first));
  BOOST_TEST(second->wait(*event).ok());
  BOOST_TEST(second->synchronize().ok());
}

BOOST_AUTO_TEST_SUITE_END()
