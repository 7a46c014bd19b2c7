/// Faults in a functor on a device. Each ends the use of the device for its process, so CTest runs each case by itself,
/// and none with the other tests.

#include <boost/test/unit_test.hpp>

#include "support/expect.hpp"

#include "memory.hpp"
#include "terms.hpp"

namespace tessera::test {
namespace {

using conformance::subject;

/// Expects the error where the device is waited for, and the same answer to what comes later.
template <class Action>
void expect_lost_device(Action action) {
  expect_error<DeviceError>(
      [&] {
        action();
        throw_if_failed(subject().default_queue().synchronize());
      },
      {"this process cannot use the device any more"});
  const Matrix<float> x(10, 10, 1.0f);
  BOOST_CHECK_THROW(sum(subject(), 10, 10, Square{read(x, subject())}), Error);
}

BOOST_AUTO_TEST_SUITE(faults, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(illegal_address) {
  Matrix<float> y(1, 100, 1.0f);
  expect_lost_device([&] { for_each(subject(), 100, Wild{write(y, subject()), Index{1} << 44}); });
}

BOOST_AUTO_TEST_CASE(assertion) {
  const Matrix<float> x(1, 100, -1.0f);
  expect_lost_device([&] { for_each(subject(), 100, Asserting{read(x, subject())}); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace tessera::test
