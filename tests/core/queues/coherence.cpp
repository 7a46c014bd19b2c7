/// A matrix knows which queues use it. The device of these tests does its work as late as it may, so that an element is
/// NaN, or old, wherever a wait is missing.

#include <boost/test/unit_test.hpp>

#include <tessera/queue.hpp>
#include <tessera/tessera.hpp>

#include "lazy_device.hpp"
#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;
using tessera::test::LazyDevice;
using tessera::test::LazyQueue;

namespace {

struct Lazy {
  LazyDevice device;
  Matrix<float> x = Matrix<float>::random(12, 12, Seed{1});
  Matrix<float> y = Matrix<float>::random(12, 12, Seed{2});

  Matrix<float> pinned(const Matrix<float>& from) {
    auto made = Matrix<float>::pinned(from.rows(), from.cols(), device);
    made.writable().assign(from.view());
    return made;
  }
  static const LazyQueue& of(const ExecutionQueue& queue) { return static_cast<const LazyQueue&>(queue.queue()); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(coherence_of_queues, Lazy)

BOOST_AUTO_TEST_CASE(nothing_waits_before_an_element_is_read) {
  ExecutionQueue queue(device);
  const Matrix<float> a = pinned(x);
  Matrix<float> c = Matrix<float>::pinned(12, 12, device);
  prefetch(a, queue);
  gemm(queue, 1.0f, a, a, 0.0f, c);
  prefetch_to_host(c, queue);
  BOOST_TEST(of(queue).done() == 0);
  BOOST_TEST(a(3, 4) == x(3, 4)); // the host's elements may be read while they are copied
  BOOST_TEST(of(queue).done() == 0);
  BOOST_TEST(c == gemm(x, x, Backend::Reference));
  BOOST_TEST(of(queue).done() > 0);
  BOOST_TEST(device.copies_in == 1);
  BOOST_TEST(device.copies_out == 1);
  BOOST_TEST(device.pinned_blocks == 2);
}

BOOST_AUTO_TEST_CASE(an_element_is_fetched_after_the_queue) {
  ExecutionQueue queue(device);
  Matrix<float> c(12, 12);
  gemm(queue, 1.0f, x, y, 0.0f, c);
  BOOST_TEST(c.newest_on() == &device);
  BOOST_TEST(std::as_const(c)(5, 6) == gemm(x, y, Backend::Reference).at(5, 6)); // without prefetch_to_host
}

BOOST_AUTO_TEST_CASE(writing_waits_for_the_copy_that_reads) {
  ExecutionQueue queue(device);
  Matrix<float> a = pinned(x);
  Matrix<float> z(12, 12);
  copy(z, a, queue);
  a(0, 0) = 77; // the queue has read the old element
  BOOST_TEST(z == x);
  prefetch(a, queue);
  a(0, 0) = 78;
  prefetch(a, queue);
  Matrix<float> c(12, 12);
  gemm(queue, 1.0f, a, Matrix<float>::identity(12), 0.0f, c);
  BOOST_TEST(c.at(0, 0) == 78.0f);
}

BOOST_AUTO_TEST_CASE(another_queue_starts_after_the_first) {
  ExecutionQueue first(device), second(device);
  Matrix<float> c(12, 12), d(12, 12);
  const Matrix<float> a = pinned(x), b = pinned(y); // a copy of pageable memory would wait
  gemm(first, 1.0f, a, a, 0.0f, c);
  gemm(second, 1.0f, c, b, 0.0f, d);
  BOOST_TEST(of(first).done() == 0); // the host waited for neither
  BOOST_TEST(d == gemm(gemm(x, x, Backend::Reference), y, Backend::Reference));
}

BOOST_AUTO_TEST_CASE(a_write_starts_after_another_queues_reads) {
  ExecutionQueue first(device), second(device);
  const Matrix<float> a = pinned(x), b = pinned(y);
  Matrix<float> c(12, 12), z(12, 12);
  copy(c, a, first);
  copy(z, c, first);  // reads c
  copy(c, b, second); // overwrites c
  second.finish();
  BOOST_TEST(c == y);
  BOOST_TEST(z == x);
}

BOOST_AUTO_TEST_CASE(functions_without_a_queue_are_ordered_too) {
  ExecutionQueue queue(device);
  Matrix<float> c(12, 12);
  gemm(queue, 1.0f, x, y, 0.0f, c);
  Matrix<float> sum = c + c;          // in the default queue, after the product
  gemm(queue, 1.0f, sum, y, 0.0f, c); // in the queue, after the default queue
  const Matrix c0 = gemm(x, y, Backend::Reference);
  BOOST_TEST(c == gemm(c0 + c0, y, Backend::Reference));
  BOOST_TEST(sum == c0 + c0);
}

BOOST_AUTO_TEST_CASE(a_copy_to_the_host_is_the_newest) {
  ExecutionQueue queue(device);
  Matrix<float> on_device(12, 12), c = Matrix<float>::pinned(12, 12, device);
  c.fill(3);
  copy(on_device, x, queue);
  copy_to_host(c, on_device, queue);
  const Matrix<float> again = gemm(c, y, Backend::Reference); // an operand that is on its way
  BOOST_TEST(again == gemm(x, y, Backend::Reference));
  copy_to_host(c, on_device, queue);
  c.fill(4); // written after the copy
  queue.finish();
  BOOST_TEST(c.at(0, 0) == 4.0f);
  copy_to_host(c.block(0, 0, 2, 12), on_device.block(0, 0, 2, 12), queue);
  BOOST_TEST(c.at(2, 0) == 4.0f);
  BOOST_TEST(c.at(1, 1) == x.at(1, 1));
}

BOOST_AUTO_TEST_CASE(a_result_supersedes_a_copy_on_its_way) {
  ExecutionQueue queue(device);
  const Matrix<float> a = pinned(x), b = pinned(y);
  Matrix<float> c = Matrix<float>::pinned(12, 12, device);
  gemm(queue, 1.0f, a, b, 0.0f, c);
  prefetch_to_host(c, queue);
  gemm(queue, 1.0f, b, a, 0.0f, c);
  BOOST_TEST(c.newest_on() == &device);
  BOOST_TEST(c == gemm(y, x, Backend::Reference));
}

BOOST_AUTO_TEST_CASE(a_matrix_that_ends_waits_for_copies_of_its_host_memory) {
  ExecutionQueue queue(device);
  Matrix<float> z(12, 12);
  {
    const Matrix<float> a = pinned(x);
    copy(z, a, queue);
    BOOST_TEST(of(queue).done() == 0);
  }
  BOOST_TEST(of(queue).done() > 0);
  BOOST_TEST(device.pinned_blocks == 0);
  BOOST_TEST(z == x);
}

BOOST_AUTO_TEST_CASE(the_guard_waits_at_the_end_of_its_scope) {
  Matrix<float> c(12, 12);
  const Matrix<float> a = pinned(x);
  {
    ExecutionQueue queue(device);
    gemm(queue, 1.0f, a, a, 0.0f, c);
  }
  BOOST_TEST(c == gemm(x, x, Backend::Reference));
  for (int i = 0; i < 100; ++i) { // marks of queues that ended are forgotten
    ExecutionQueue queue(device);
    prefetch(a, queue);
    gemm(queue, 1.0f, a, a, 0.0f, c);
  }
  BOOST_TEST(c == gemm(x, x, Backend::Reference));
}

BOOST_AUTO_TEST_CASE(a_failure_is_thrown_by_finish_and_by_the_access) {
  Matrix<float> c = Matrix<float>::pinned(12, 12, device);
  const Matrix<float> a = pinned(x);
  ExecutionQueue queue(device);
  gemm(queue, 1.0f, a, a, 0.0f, c);
  prefetch_to_host(c, queue);
  device.broken = true;
  expect_error<DeviceError>([&] { static_cast<void>(c.at(0, 0)); }, {"the device is broken"});
  expect_error<DeviceError>([&] { queue.finish(); }, {"the device is broken"});
  device.broken = false;
}

BOOST_AUTO_TEST_CASE(wait_for_orders_memory_of_the_program) {
  ExecutionQueue first(device), second(device);
  bool done = false;
  static_cast<LazyQueue&>(first.queue()).give([&] {
    done = true;
    return Status{};
  });
  second.wait_for(first);
  BOOST_TEST(!done);
  second.finish();
  BOOST_TEST(done);
}

BOOST_AUTO_TEST_CASE(between_two_executors_of_one_kind) {
  for (const bool reaches : {true, false}) {
    LazyDevice one, other(reaches);
    ExecutionQueue first(one), second(other);
    Matrix<float> c(12, 12), d(12, 12);
    gemm(first, 1.0f, x, y, 0.0f, c);
    gemm(second, 1.0f, c, y, 0.0f, d);
    BOOST_TEST(d == gemm(gemm(x, y, Backend::Reference), y, Backend::Reference));
    BOOST_TEST(other.copies_within == (reaches ? 2 : 0)); // c and y
    BOOST_TEST(one.copies_out == (reaches ? 0 : 1));
    c = d = Matrix<float>();
    BOOST_TEST(one.blocks() == 1u); // x; what has left for the other executor is freed here
    x = Matrix<float>::random(12, 12, Seed{1});
    y = Matrix<float>::random(12, 12, Seed{2});
  }
}

BOOST_AUTO_TEST_CASE(to_the_host_from_another_executor) {
  LazyDevice other;
  ExecutionQueue first(device), second(other);
  Matrix<float> c(12, 12), z(12, 12, 1.0f);
  gemm(first, 1.0f, x, y, 0.0f, c);
  copy_to_host(z, c, second);
  BOOST_TEST(z == gemm(x, y, Backend::Reference));
  BOOST_TEST(c.newest_on() == nullptr); // both have it
  gemm(first, 1.0f, y, x, 0.0f, c);
  prefetch_to_host(c, second);
  BOOST_TEST(c == gemm(y, x, Backend::Reference));
}

BOOST_AUTO_TEST_SUITE_END()
