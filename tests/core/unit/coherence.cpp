/// Tests where a matrix's newest copy is, and what is copied when. The device is a stand-in that counts copies.

#include <utility>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "fake_device.hpp"
#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;
using tessera::test::FakeDevice;

namespace {

/// Makes the device's copy the newest one, without changing the elements.
void touch_on(FakeDevice& device, const Matrix<float>& a) {
  static_cast<void>(detail::write_on(a.operand(), device, false));
  detail::written_on(a.operand(), device);
}

} // namespace

BOOST_AUTO_TEST_SUITE(coherence)

BOOST_AUTO_TEST_CASE(an_operand_goes_over_once) {
  FakeDevice device;
  const auto a = Matrix<float>::random(5, 6, Seed{1});
  static_cast<void>(a.operand().storage->read_on(device));
  static_cast<void>(a.operand().storage->read_on(device));
  BOOST_TEST(device.copies_in == 1);
  BOOST_TEST(device.copies_out == 0);
  BOOST_TEST(a.newest_on() == nullptr); // both copies are current
}

BOOST_AUTO_TEST_CASE(a_result_comes_back_once_and_stays_on_the_device) {
  FakeDevice device;
  Matrix<float> a = Matrix<float>::random(5, 6, Seed{1});
  const Matrix<float> expected = a + a;
  touch_on(device, a);
  BOOST_TEST(a.newest_on() == &device);
  const Matrix<float> sum = std::as_const(a) + std::as_const(a);
  BOOST_TEST(sum.newest_on() == &device);
  BOOST_TEST(device.kernels == 1);
  BOOST_TEST(device.copies_out == 0);
  BOOST_TEST((sum == expected));
  BOOST_TEST(sum.at(4, 5) == expected.at(4, 5));
  BOOST_TEST(device.copies_out == 1);
  const Matrix<float> again = sum + sum; // the device's copy is still current
  BOOST_TEST(device.copies_in == 1);
  BOOST_TEST(again.newest_on() == &device);
}

BOOST_AUTO_TEST_CASE(products_stay_with_their_operands) {
  FakeDevice device;
  const auto a = Matrix<float>::random(7, 8, Seed{1});
  const auto b = Matrix<float>::random(8, 9, Seed{2});
  const Matrix<float> expected = gemm(a, b);
  touch_on(device, a);
  const Matrix<float> c = gemm(a, b);
  BOOST_TEST(c.newest_on() == &device);
  BOOST_TEST(device.copies_in == 2);
  BOOST_TEST((c == expected));
  BOOST_TEST(c.norm_max() == expected.norm_max());
}

BOOST_AUTO_TEST_CASE(what_the_host_writes_makes_the_device_stale) {
  FakeDevice device;
  Matrix<float> a(3, 3, 1.0f);
  touch_on(device, a);
  a(1, 1) = 5; // fetches, then writes
  BOOST_TEST(device.copies_out == 1);
  BOOST_TEST(a.newest_on() == nullptr);
  const auto placed = a.operand().storage->read_on(device);
  BOOST_TEST(device.copies_in == 2);
  BOOST_TEST(static_cast<const float*>(placed.data)[placed.ld + 1] == 5.0f);
}

BOOST_AUTO_TEST_CASE(writing_a_part_keeps_the_rest) {
  FakeDevice device;
  Matrix<float> a(4, 4, 1.0f);
  touch_on(device, a);
  const Matrix<float> unit = Matrix<float>::identity(2);
  gemm(2.0f, unit, unit, 0.0f, a.block(1, 1, 2, 2));
  BOOST_TEST(a.newest_on() == &device);
  BOOST_TEST((a == Matrix<float>{{1, 1, 1, 1}, {1, 2, 0, 1}, {1, 0, 2, 1}, {1, 1, 1, 1}}));
}

BOOST_AUTO_TEST_CASE(a_matrix_moves_between_devices_through_the_host) {
  FakeDevice first, second;
  const auto a = Matrix<float>::random(5, 5, Seed{3});
  const auto expected = Matrix<float>::random(5, 5, Seed{3});
  touch_on(first, a);
  touch_on(second, a);
  BOOST_TEST(first.copies_out == 1);
  BOOST_TEST(first.blocks() == 0u); // one device at a time
  BOOST_TEST(second.copies_in == 1);
  BOOST_TEST((a == expected));
}

BOOST_AUTO_TEST_CASE(copies_and_moves_of_a_matrix_on_a_device) {
  FakeDevice device;
  Matrix<float> a(3, 3, 2.0f);
  touch_on(device, a);
  const Matrix<float> copy = a;
  BOOST_TEST(copy.newest_on() == &device);
  const Matrix<float> moved = std::move(a);
  BOOST_TEST(moved.newest_on() == &device);
  BOOST_TEST(device.copies_out == 0);
  BOOST_TEST((copy == moved));
}

BOOST_AUTO_TEST_CASE(memory_is_given_back) {
  FakeDevice device;
  {
    const Matrix<float> a(3, 3, 2.0f);
    touch_on(device, a);
    BOOST_TEST(device.blocks() == 1u);
  }
  BOOST_TEST(device.blocks() == 0u);
}

BOOST_AUTO_TEST_CASE(the_callers_memory_gets_what_was_computed) {
  FakeDevice device;
  std::vector<float> memory(6, 1.0f);
  {
    const auto view = MatrixView<float>::wrap(memory.data(), 2, 2, 3);
    static_cast<void>(detail::write_on(view.operand(), device, false));
    detail::written_on(view.operand(), device);
    detail::fill(view.operand(), 4.0);
    BOOST_TEST(memory[0] == 1.0f);
  }
  BOOST_TEST(memory == (std::vector<float>{4, 4, 1, 4, 4, 1}), boost::test_tools::per_element());
}

/// The owner of borrowed memory reads it while the view still exists.
BOOST_AUTO_TEST_CASE(a_product_in_the_callers_memory_is_there_when_gemm_returns) {
  FakeDevice device;
  Matrix<float> a{{1, 2}, {3, 4}};
  touch_on(device, a);
  std::vector<float> memory(6, 1.0f);
  const auto c = MatrixView<float>::wrap(memory.data(), 2, 2, 3);
  gemm(1.0f, a, Matrix<float>::identity(2), 1.0f, c);
  BOOST_TEST(memory == (std::vector<float>{2, 3, 1, 4, 5, 1}), boost::test_tools::per_element());
  BOOST_TEST(device.copies_out > 0); // it was computed there
  device.broken = true;              // a result that cannot be copied to the host is a failure
  expect_error<DeviceError>([&] { gemm(1.0f, a, a, 1.0f, c); }, {"broken"});
}

BOOST_AUTO_TEST_CASE(a_failed_operation_loses_nothing) {
  FakeDevice device;
  Matrix<float> a(3, 3, 2.0f);
  const Matrix<float> unit = Matrix<float>::identity(3);
  device.out_of_memory = true;
  expect_error<OutOfMemory>([&] { touch_on(device, a); }, {"no memory", "bytes"});
  BOOST_TEST((a == Matrix<float>(3, 3, 2.0f)));
  BOOST_TEST(device.blocks() == 0u);
  device.out_of_memory = false;
  touch_on(device, a);
  device.broken = true;
  expect_error<DeviceError>([&] { a.fill(9.0f); }, {"broken"});
  expect_error<DeviceError>([&] { static_cast<void>(a.at(0, 0)); }, {"broken"});
  BOOST_TEST(a.newest_on() == &device);
  device.broken = false;
  BOOST_TEST((a == Matrix<float>(3, 3, 2.0f)));
  // A kernel that rejects leaves the result as it was, on the host and on the device.
  touch_on(device, a);
  expect_error<KernelRejected>([&] { gemm(1.0f, unit, unit, 0.0f, a, {.math = Math::Compensated}); }, {"compensated"});
  BOOST_TEST((a == Matrix<float>(3, 3, 2.0f)));
}

BOOST_AUTO_TEST_SUITE_END()
